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
    x.is_disturbed
from series as s
join trial as t on t.id = s.trial_id
join metric as m on m.name = s.metric
join sample as x on x.series_id = s.id;

comment on view measurement is 'Every value that was recorded, of trials of any status';
