create view ratio as select * from ratios(false);

comment on view ratio is
    'Every variant against the fastest one of its security level (2018): time / time of the fastest, sample by sample, '
    'per run, comparison, phase and level, composed operations apart; pseudo-libraries are left out';
comment on column ratio.n is
    'Number of pairs: samples of the same process number and ordinal; where is_paired is false, samples of the one '
    'with fewer';
comment on column ratio.ratio is
    'Median of time of this variant / time of the fastest; where is_paired is false, ratio of their medians';
comment on column ratio.ci_low is
    'Lower bound of the ratio''s 95 % interval, the conservative one where is_paired is false; NULL where there are '
    'too few samples';
comment on column ratio.ci_high is
    'Upper bound of the ratio''s 95 % interval, the conservative one where is_paired is false; NULL where there are '
    'too few samples';
comment on column ratio.verdict is
    'Of this variant against the fastest: slower, no difference (the interval widened by noise_floor() '
    'contains 1), too few samples; faster where pairs contradict the medians';
