create view measurement as
select
    t.run_id,
    t.case_key,
    s.trial_id,
    t.process,
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
    coalesce(p.plain_modulus, c.plain_modulus) as plain_modulus,
    coalesce(p.scale, 2::double precision ^ c.scale_bits) as scale,
    c.division,
    p.key_switching,
    p.digits,
    p.scaling,
    t.parameter_set_id,
    x.slow_down
from series as s
join trial as t on t.id = s.trial_id
join case_ as c on c.key = t.case_key
left join parameter_set as p on p.id = t.parameter_set_id
join metric as m on m.name = s.metric
join sample as x on x.series_id = s.id;

comment on view measurement is 'Every value that was recorded, of trials of any status';
