-- name: version
-- A row that changes when something is recorded, deleted or renamed.
select
    (select count(*) || ' ' || max(sequence) from trial),
    md5(string_agg(id || coalesce(label, ''), ' ' order by sequence))
from run;

-- name: overview_runs
-- The runs for answers: the latest three of every suite, those measured here first, then imported ones, then reference
-- runs. The requested run precedes them.
select run_id, suite, label, started_at, is_imported, is_shipped, host, cpu_model, cores
from (
    select
        *,
        row_number() over (
            order by run_id is not distinct from %(run_id)s desc, is_shipped, is_imported, sequence desc
        ) as place
    from (
        select
            *,
            row_number() over (partition by suite, is_imported, is_shipped order by sequence desc) as age
        from runs
    ) as aged
    where age <= 3 or run_id = %(run_id)s
) as r
where place <= 40 or is_shipped
order by place;

-- name: overview_cases
-- The compared cases, with the number of variants, once for each table of security levels. For a workload, the stage in
-- which the client decrypts. Operations have fresh operands, or those of the top level, and cached ones.
select
    run_id,
    experiment,
    operation,
    scheme,
    stage,
    case kind when 'equal_security' then '2018' else '2024' end as table_of_level,
    case kind when 'equal_security' then security_compared else security_compared_2024 end as level,
    comparison_group,
    tuning,
    data_pattern,
    data_set,
    threads,
    is_composite,
    max(security_table) as security_table,
    max(vector_length) as vector_length,
    max(ciphertexts) as ciphertexts,
    min(ring_dimension) as ring_dimension,
    count(distinct variant) filter (where step is null) as variants
from ratios
where
    run_id = any (%(runs)s)
    and kind in ('equal_security', 'equal_security_2024')
    and party is null
    and (step is null or step = 'decrypt')
    and case kind when 'equal_security' then security_compared else security_compared_2024 end is not null
    and (
        experiment = any (%(operations)s) and stage = 'evaluate'
        or experiment <> all (%(others)s)
    )
    and coalesce(ratios.level = ratios.top_level, ratios.level is null)
    and residency is distinct from 'streamed'
group by
    run_id,
    experiment,
    operation,
    scheme,
    stage,
    kind,
    case kind when 'equal_security' then security_compared else security_compared_2024 end,
    comparison_group,
    tuning,
    data_pattern,
    data_set,
    threads,
    is_composite
having experiment = any (%(operations)s) or bool_or(step = 'decrypt');

-- name: overview_ranks
-- The variants of chosen cases; ``cases`` are their runs, groups, stages and levels in arrays of one length.
select
    r.run_id,
    r.comparison_group,
    r.case_info_id,
    r.experiment,
    r.operation,
    r.scheme,
    r.stage,
    r.variant,
    r.library,
    r.library_version,
    r.hexl,
    r.is_debug,
    r.ring_dimension,
    r.modulus_bits,
    r.special_primes,
    r.log_qp,
    r.security_2018,
    r.security_2024,
    r.vector_length,
    r.data_pattern,
    r.data_set,
    r.threads,
    r.median_s,
    r.n,
    r.ratio,
    r.ci_low,
    r.ci_high,
    r.standing,
    r.is_paired,
    r.is_equal_parameters
from ratios as r
join unnest(%(runs)s::text [], %(groups)s::text [], %(stages)s::text []) as c (run_id, comparison_group, stage)
    on r.run_id::text = c.run_id and r.comparison_group::text = c.comparison_group and r.stage = c.stage
where
    r.kind = case %(table)s when '2018' then 'equal_security' else 'equal_security_2024' end
    and case %(table)s when '2018' then r.security_compared else r.security_compared_2024 end = %(level)s
    and r.party is null
    and r.step is null;

-- name: overview_metrics
-- Other measures of these cases. A ciphertext's size is that of the same parameters, as serialized in the run, without
-- compression where possible.
select case_info_id, metric, stage, party, step, median, null as compression
from results
where
    case_info_id = any (%(cases)s)
    and metric in ('peak_memory', 'noise_budget', 'precision', 'agreement', 'size')
    and (step is null or metric = 'size' and step = 'returned')
union all
select c.case_info_id, 'size', 'dump', null, null, max(s.median), min(o.operation)
from case_info as c
join case_info as o
    on o.run_id = c.run_id
        and o.build_id = c.build_id
        and o.parameter_set_id = c.parameter_set_id
        and o.experiment = any (%(objects)s)
        and o.status = 'ok'
join result as s on s.case_info_id = o.case_info_id and s.metric = 'size' and s.stage = 'ciphertext'
where
    c.case_info_id = any (%(cases)s)
    and c.experiment = any (%(operations)s)
    and o.operation = (
        select min(x.operation)
        from case_info as x
        where x.run_id = c.run_id and x.scheme = c.scheme and x.experiment = any (%(objects)s) and x.status = 'ok'
    )
group by c.case_info_id;
