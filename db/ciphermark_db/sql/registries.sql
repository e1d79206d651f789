-- name: metrics
select name, unit, direction, threshold, threshold_kind, label, sentence, adds_up, probe from metric;

-- name: dimensions
select name, kind, sentence from dimension;

-- name: experiments
select name, determines, is_until_exhausted from experiment;

-- name: fill_metric
insert into metric (name, unit, direction, threshold, threshold_kind, label, sentence, adds_up, probe)
values (%(name)s, %(unit)s, %(direction)s, %(threshold)s, %(threshold_kind)s, %(label)s, %(sentence)s, %(adds_up)s, %(probe)s)
on conflict (name) do update set
    unit = excluded.unit,
    direction = excluded.direction,
    threshold = excluded.threshold,
    threshold_kind = excluded.threshold_kind,
    label = excluded.label,
    sentence = excluded.sentence,
    adds_up = excluded.adds_up,
    probe = excluded.probe;

-- name: fill_dimension
insert into dimension (name, kind, sentence) values (%(name)s, %(kind)s, %(sentence)s)
on conflict (name) do update set kind = excluded.kind, sentence = excluded.sentence;

-- name: fill_experiment
insert into experiment (name, determines, is_until_exhausted)
values (%(name)s, %(determines)s, %(is_until_exhausted)s)
on conflict (name) do update set
    determines = excluded.determines,
    is_until_exhausted = excluded.is_until_exhausted;
