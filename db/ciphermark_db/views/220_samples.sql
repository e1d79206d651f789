create view samples as
select
    t.run_id,
    t.case_key,
    c.comparison_key,
    c.variant,
    c.scheme,
    coalesce(p.ring_dimension, c.ring_dimension) as ring_dimension,
    coalesce(p.modulus_bits, c.modulus_bits) as modulus_bits,
    c.experiment,
    c.operation,
    c.size,
    c.data_pattern,
    c.threads,
    c.dimensions,
    s.trial_id,
    t.process,
    t.status,
    phase_of(s.stage, s.party, s.step) as phase,
    s.stage,
    s.party,
    s.step,
    s.metric,
    m.unit,
    x.value,
    x.loops,
    x.ordinal,
    x.repetitions,
    x.is_warmup,
    x.is_disturbed,
    x.slow_down,
    coalesce(p.plain_modulus, c.plain_modulus) as plain_modulus,
    coalesce(p.scale, 2::double precision ^ c.scale_bits) as scale,
    c.security_bits,
    c.depth as chain_depth,
    c.ring_dimension_is_minimum,
    c.division,
    p.key_switching,
    p.digits,
    p.scaling,
    t.parameter_set_id
from series as s
join trial as t on t.id = s.trial_id
join case_ as c on c.key = t.case_key
left join parameter_set as p on p.id = t.parameter_set_id
join metric as m on m.name = s.metric
join sample as x on x.series_id = s.id;

comment on view samples is 'Every value that was recorded, of trials of any status, with the case that it belongs to: a row per value';
