create view profiles as
select
    i.*,
    each.phase,
    each.stage,
    each.party,
    each.step,
    each.probe,
    each.metric,
    each.unit,
    each.n,
    each.median,
    each.ci_low,
    each.ci_high,
    each.unmeasured
from case_info as i
join lateral (
    select
        phase_of(r.stage, r.party, r.step) as phase,
        r.stage,
        r.party,
        r.step,
        m.probe,
        r.metric,
        m.unit,
        r.n,
        r.median,
        r.ci_low,
        r.ci_high,
        null as unmeasured
    from result as r
    join metric as m on m.name = r.metric
    where r.case_info_id = i.case_info_id and m.probe is not null
    union all
    select distinct null, null, null, null, reason.key, null, null, null::integer, null::float, null::float, null::float, reason.value
    from trial as t
    cross join lateral jsonb_each_text(t.unmeasured) as reason
    where t.case_info_id = i.case_info_id
) as each on true;

comment on view profiles is
    'Results of the probes that a suite asked for: a row per run, case, phase and metric. A probe that could not measure '
    'has a row without a metric, with the reason';
