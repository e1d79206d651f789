-- What the experiment learning stores, and what published figures are compared with: descriptions alone.

comment on column results.phase is
    'keys, encrypt, operation or decrypt; in learning a stage (prepare, train, infer), or a step or party of one '
    '(train.encrypt, train.server); or the object that a size belongs to';
comment on column speedup.phase is
    'keys, encrypt, operation or decrypt; in learning a stage (prepare, train, infer), or a step or party of one '
    '(train.encrypt, train.server); or the object that a size belongs to';
comment on column ratio.phase is
    'keys, encrypt, operation or decrypt; in learning a stage (prepare, train, infer), or a step or party of one '
    '(train.encrypt, train.server); or the object that a size belongs to';
comment on column ratio_any_security.phase is
    'keys, encrypt, operation or decrypt; in learning a stage (prepare, train, infer), or a step or party of one '
    '(train.encrypt, train.server); or the object that a size belongs to';
comment on column results.metric is
    'time, cpu_time, peak_memory, size, noise_budget, precision, depth, is_capped, ...; in learning also accuracy, '
    'mse, agreement, noise_error, rounding_error, plaintext_size, expansion; NULL where nothing counts (see status)';
comment on column results.unit is 'Unit of the metric: s, bytes, bits, operations, flag, share, ratio';

comment on view published_match is
    'Published figures beside ours of the same case: a row per run, figure, variant, operation and ring dimension. '
    'The same case: equal scheme, experiment, phase, metric, repetitions and data set, one of the operations that the '
    'figure is about, variant and N where the source tells them; one thread, and outside of learning one ciphertext';
