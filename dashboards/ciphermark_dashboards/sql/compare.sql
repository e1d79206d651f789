-- name: latest_pair
-- Two runs of one suite, of which none continues another, and no reference run: the run measured last with the one before it, unless the
-- suite or one of the runs is given.
select
    a.id as run_a,
    b.id as run_b
from run as b
cross join lateral (
    select r.id
    from run as r
    where
        r.suite = b.suite
        and r.id <> b.id
        and coalesce(r.id = %(a)s::text, r.sequence < b.sequence and r.continues is null and not r.is_shipped)
    order by r.sequence desc
    limit 1
) as a
where
    coalesce(b.suite = %(suite)s::text, true)
    and coalesce(b.id = %(b)s::text, b.continues is null and not b.is_shipped)
order by b.is_imported, b.sequence desc
limit 1;

-- name: histories
-- The times of runs, without those of parties and steps, the earliest run first.
select
    run_id,
    started_at,
    case_key,
    comparison_group,
    variant,
    experiment,
    operation,
    scheme,
    ring_dimension,
    tuning,
    phase,
    repetitions,
    vector_length,
    data_pattern,
    data_set,
    threads,
    threshold,
    n,
    (select count(distinct t.process) from trial as t where t.case_info_id = r.case_info_id) as processes,
    median,
    ci_low as low,
    ci_high as high,
    undisturbed_share,
    slowdown,
    reference_kernel_s,
    memory_kernel_s
from results as r
where
    run_id = any (%(runs)s)
    and metric = 'time'
    and party is null
    and step is null
    and coalesce(ci_low, median) > 0
order by started_at, run_id, case_key, stage;
