-- name: leaderboard
-- A variant's mean is over the cases that every variant shown has an ok trial for.
with cases as (
    select
        t.variant,
        t.comparison_key,
        t.phase,
        t.median_s,
        min(t.median_s) over (partition by t.comparison_key, t.phase) as fastest_s,
        count(*) over (partition by t.comparison_key, t.phase) as variants
    from (
        select variant, comparison_key, phase, min(median) as median_s
        from results
        where
            run_id = %(run_id)s
            and metric = 'time'
            and experiment in ('arithmetic', 'rotation')
            and status = 'ok'
            and phase = 'operation'
            and scheme = %(scheme)s
            and security_2018 = %(security)s
            and ring_dimension = any (%(ns)s)
            and operation = any (%(operations)s)
            and variant = any (%(variants)s)
            and library is not null
        group by variant, comparison_key, phase
    ) as t
),
states as (
    select
        c.variant,
        count(*) filter (where t.status = 'ok') as ok,
        count(*) filter (where t.status = 'unsupported') as unsupported,
        count(*) filter (where t.status not in ('ok', 'unsupported')) as failed
    from trial as t
    join case_ as c on c.key = t.case_key
    left join build as b on b.id = t.build_id
    left join parameter_set as p on p.id = t.parameter_set_id
    where
        t.run_id = %(run_id)s
        and c.experiment in ('arithmetic', 'rotation')
        and c.scheme = %(scheme)s
        and coalesce(p.ring_dimension, c.ring_dimension) = any (%(ns)s)
        and c.operation = any (%(operations)s)
        and c.variant = any (%(variants)s)
        and b.is_reference is not true
    group by c.variant
),
means as (
    select
        variant,
        exp(avg(ln(median_s / fastest_s)) filter (
            where variants = (select count(distinct variant) from cases)
        )) as mean_ratio,
        count(*) filter (where variants = (select count(distinct variant) from cases)) as common_cases,
        count(*) filter (where median_s = fastest_s) as fastest_in
    from cases
    group by variant
)
select
    s.variant,
    m.mean_ratio,
    coalesce(m.common_cases, 0) as common_cases,
    coalesce(m.fastest_in, 0) as fastest_in,
    s.ok,
    s.unsupported,
    s.failed
from states as s
left join means as m using (variant)
order by m.mean_ratio nulls last, s.variant;

-- name: matrix
-- What was measured comes from the view of ratios, which has the medians, too; what was not, from its trials.
select
    operation,
    ring_dimension,
    size,
    data_pattern,
    threads,
    variant,
    'ok' as status,
    median_s as median,
    ratio,
    ci_low,
    ci_high,
    verdict,
    is_equal_parameters,
    log_qp,
    null as error,
    comparison_key
from ratio
where
    run_id = %(run_id)s
    and phase = 'operation'
    and experiment in ('arithmetic', 'rotation')
    and scheme = %(scheme)s
    and security_2018 = %(security)s
    and ring_dimension = any (%(ns)s)
    and operation = any (%(operations)s)
    and variant = any (%(variants)s)
union all
select
    c.operation,
    coalesce(p.ring_dimension, c.ring_dimension),
    c.size,
    c.data_pattern,
    c.threads,
    c.variant,
    t.status,
    null,
    null,
    null,
    null,
    null,
    null,
    min(p.log_qp),
    string_agg(distinct t.error, E'\n'),
    c.comparison_key
from trial as t
join case_ as c on c.key = t.case_key
left join parameter_set as p on p.id = t.parameter_set_id
where
    t.run_id = %(run_id)s
    and t.status <> 'ok'
    and c.experiment in ('arithmetic', 'rotation')
    and c.scheme = %(scheme)s
    and coalesce(p.security_2018 = %(security)s, true)
    and coalesce(p.ring_dimension, c.ring_dimension) = any (%(ns)s)
    and c.operation = any (%(operations)s)
    and c.variant = any (%(variants)s)
group by
    c.operation, coalesce(p.ring_dimension, c.ring_dimension), c.size, c.data_pattern, c.threads, c.variant, t.status,
    c.comparison_key
order by operation, ring_dimension, size, data_pattern, threads, variant, status;

-- name: speedup
select
    library,
    variant_on,
    variant_off,
    scheme,
    ring_dimension,
    modulus_bits,
    operation,
    phase,
    size,
    data_pattern,
    n,
    ratio,
    ci_low,
    ci_high,
    verdict,
    comparison_key
from speedup
where
    run_id = %(run_id)s
    and phase = %(phase)s
    and scheme = %(scheme)s
    and security_2018 = %(security)s
    and ring_dimension = any (%(ns)s)
    and operation = any (%(operations)s)
    and size = any (%(sizes)s)
    and data_pattern = %(data)s
order by ring_dimension, operation, size;
