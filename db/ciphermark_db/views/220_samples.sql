create view samples as
select
    i.*,
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
    x.slowdown
from series as s
join trial as t on t.id = s.trial_id
join case_info as i on i.case_info_id = t.case_info_id
join metric as m on m.name = s.metric
join sample as x on x.series_id = s.id;

comment on view samples is 'Every recorded value with its case, of trials with any status: a row per value';
