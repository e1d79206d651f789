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
select
    r.operation,
    r.ring_dimension,
    r.size,
    r.data_pattern,
    r.threads,
    r.variant,
    min(r.status) as status,
    min(r.median) as median,
    min(x.ratio) as ratio,
    min(x.ci_low) as ci_low,
    min(x.ci_high) as ci_high,
    min(x.verdict) as verdict,
    bool_and(x.is_equal_parameters) as is_equal_parameters,
    min(r.log_qp) as log_qp,
    min(r.error) as error,
    r.comparison_key
from results as r
left join ratio as x
    on x.run_id = r.run_id
    and x.comparison_key = r.comparison_key
    and x.variant = r.variant
    and x.phase = 'operation'
where
    r.run_id = %(run_id)s
    and (r.metric = 'time' or r.metric is null)
    and (r.phase = 'operation' or r.phase is null)
    and r.experiment in ('arithmetic', 'rotation')
    and r.scheme = %(scheme)s
    and coalesce(r.security_2018 = %(security)s, true)
    and r.ring_dimension = any (%(ns)s)
    and r.operation = any (%(operations)s)
    and r.variant = any (%(variants)s)
group by r.operation, r.ring_dimension, r.size, r.data_pattern, r.threads, r.variant, r.comparison_key
order by r.operation, r.ring_dimension, r.size, r.data_pattern, r.threads, r.variant;

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
