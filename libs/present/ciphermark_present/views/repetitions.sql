select
    i.*,
    f.is_composite,
    f.error,
    case when f.is_composite then i.operation || ' (composite)' else i.operation end as label,
    coalesce(r.repetitions, (i.dimensions ->> 'repetitions')::integer) as repetitions,
    max(r.n) filter (where r.metric = 'time') as n,
    max(r.median) filter (where r.metric = 'time') as median,
    max(r.ci_low) filter (where r.metric = 'time') as ci_low,
    max(r.ci_high) filter (where r.metric = 'time') as ci_high,
    max(r.undisturbed_share) filter (where r.metric = 'time') as undisturbed_share,
    max(r.slowdown) filter (where r.metric = 'time') as slowdown,
    max(r.uncorrected_median) filter (where r.metric = 'time') as uncorrected_median,
    max(r.max) filter (where r.metric = 'peak_memory') as peak_bytes,
    max(r.median) filter (where r.metric in ('noise_budget', 'precision')) as remaining_bits
from case_info as i
join case_facts as f on f.case_info_id = i.case_info_id
left join result as r on r.case_info_id = i.case_info_id
where r.stage is null or phase_of(r.stage, r.party, r.step) = 'evaluate'
group by i.case_info_id, f.case_info_id, coalesce(r.repetitions, (i.dimensions ->> 'repetitions')::integer)
