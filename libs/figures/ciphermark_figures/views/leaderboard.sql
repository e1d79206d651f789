-- A variant's mean is that of the ratios of the matrix, over the cases that every variant shown has one for. Verdicts
-- come from intervals: a mean lies between the means of the bounds, and who is not surely slower than another by more
-- than the noise floor shares its rank. Operations that a variant has composed are ranked apart, in rows of their own,
-- and so is each division; in best, a case is of the level that was asked for: the highest not above the one shown.
-- What was never resolved is of the levels that others resolved the case to.
with asked as (
    select max(c.security_bits) as bits
    from trial as t
    join case_ as c on c.key = t.case_key
    where t.run_id = %(run_id)s and c.division = 'best' and c.security_bits <= %(security_2018)s
),
found as (
    select
        variant,
        is_composed,
        division,
        comparison_key,
        ratio,
        ci_low,
        ci_high,
        rank = 1 or verdict in ('no difference', 'faster') as is_fastest,
        count(*) over (partition by comparison_key, is_composed) as variants
    from ratio
    where
        run_id = %(run_id)s
        and phase = 'operation'
        and experiment = any (%(experiments)s)
        and scheme = %(scheme)s
        and case division
            when 'best' then security_bits = (select bits from asked)
            else security_2018 = %(security_2018)s
        end
        and ring_dimension = any (%(ring_dimension)s)
        and operation = any (%(operation)s)
        and variant = any (%(variant)s)
),
means as (
    select
        variant,
        is_composed,
        division,
        exp(avg(ln(ratio)) filter (where is_common)) as mean_ratio,
        case
            when bool_and(ci_low is not null) filter (where is_common)
                then exp(avg(ln(ci_low)) filter (where is_common))
        end as ci_low,
        case
            when bool_and(ci_low is not null) filter (where is_common)
                then exp(avg(ln(ci_high)) filter (where is_common))
        end as ci_high,
        count(*) filter (where is_common) as common_cases,
        count(*) filter (where variants > 1) as compared_cases,
        count(*) filter (where variants > 1 and is_fastest) as fastest_in
    from (
        select
            f.*,
            f.variants = (
                select count(distinct variant) from found where is_composed = f.is_composed and division = f.division
            ) as is_common
        from found as f
    ) as marked
    group by variant, is_composed, division
),
levels as (
    select distinct c.comparison_key, p.security_2018
    from trial as t
    join case_ as c on c.key = t.case_key
    join parameter_set as p on p.id = t.parameter_set_id
    where t.run_id = %(run_id)s
),
states as (
    select
        c.variant,
        t.facts @> '{"is_composed": 1}' as is_composed,
        c.division,
        count(*) filter (where t.status = 'ok') as ok,
        count(*) filter (where t.status = 'unsupported') as unsupported,
        count(*) filter (where t.status not in ('ok', 'unsupported')) as failed
    from trial as t
    join case_ as c on c.key = t.case_key
    left join build as b on b.id = t.build_id
    left join parameter_set as p on p.id = t.parameter_set_id
    where
        t.run_id = %(run_id)s
        and c.experiment = any (%(experiments)s)
        and c.scheme = %(scheme)s
        and coalesce(
            case c.division
                when 'best' then c.security_bits = (select bits from asked)
                else p.security_2018 = %(security_2018)s
            end,
            c.comparison_key in (select comparison_key from levels where security_2018 = %(security_2018)s)
            or c.comparison_key not in (select comparison_key from levels)
        )
        and coalesce(p.ring_dimension, c.ring_dimension) = any (%(ring_dimension)s)
        and c.operation = any (%(operation)s)
        and c.variant = any (%(variant)s)
        and b.is_reference is not true
    group by c.variant, c.division, t.facts @> '{"is_composed": 1}'
)
select
    s.variant,
    s.is_composed,
    s.variant
    || case when s.division = 'best' then ' (division best)' else '' end
    || case when s.is_composed then ' (composed)' else '' end as label,
    case
        when m.ci_low is not null
            then 1 + (
                select count(*)
                from means as o
                where
                    o.is_composed = m.is_composed
                    and o.division = m.division
                    and verdict(m.ci_low / o.ci_high, m.ci_high / o.ci_low) = 'faster'
            )
    end as rank,
    m.mean_ratio,
    m.ci_low,
    m.ci_high,
    coalesce(m.common_cases, 0) as common_cases,
    coalesce(m.fastest_in, 0) as fastest_in,
    coalesce(m.compared_cases, 0) as compared_cases,
    s.ok,
    s.unsupported,
    s.failed
from states as s
left join means as m using (variant, is_composed, division)
order by s.division desc, s.is_composed, m.mean_ratio nulls last, s.variant;
