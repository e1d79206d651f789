-- A variant's mean is that of the ratios of the matrix, over the cases that every variant shown has one for. A row is one
-- of these cases, with the times of its rounds and those of the fastest; a variant without such has one row all the same.
-- Intervals and ranks are made of these rows: see libs/present/ciphermark_present/ranks.py. Operations that a variant has composed are ranked apart, in rows of their own,
-- and so is each division; in best, a case is of the level that was asked for: the highest not above the one shown.
-- What was never resolved is of the levels that others resolved the case to.
with asked as (
    select max(c.security_bits) as bits
    from trial as t
    join case_ as c on c.key = t.case_key
    where t.run_id = %(run_id)s and c.division = 'best' and c.security_bits <= %(security_compared)s
),
found as (
    select
        variant,
        is_composed,
        division,
        comparison_key,
        fastest_variant,
        is_paired,
        ratio,
        ci_low,
        ci_high,
        rank = 1 or verdict in ('no difference', 'faster') as is_fastest,
        count(*) over (partition by comparison_key, is_composed) as variants
    from ranking
    where
        run_id = %(run_id)s
        and phase = 'operation'
        and experiment = any (%(experiments)s)
        and scheme = %(scheme)s
        and case division
            when 'best' then security_bits = (select bits from asked)
            else security_2018 = %(security_compared)s
        end
        and ring_dimension = any (%(ring_dimension)s)
        and operation = any (%(operation)s)
        and variant = any (%(variant)s)
),
marked as (
    select
        f.*,
        f.variants = (
            select count(distinct variant) from found where is_composed = f.is_composed and division = f.division
        ) as is_common
    from found as f
),
means as (
    select
        variant,
        is_composed,
        division,
        exp(avg(ln(ratio)) filter (where is_common)) as mean_ratio,
        count(*) filter (where is_common) as common_cases,
        count(*) filter (where variants > 1) as compared_cases,
        count(*) filter (where variants > 1 and is_fastest) as fastest_in
    from marked
    group by variant, is_composed, division
),
timed as (
    select
        c.comparison_key,
        c.variant,
        coalesce(
            array_agg(t.process * 1000000000::bigint + x.ordinal order by t.process, x.ordinal) filter (
                where not x.is_disturbed
            ),
            array_agg(t.process * 1000000000::bigint + x.ordinal order by t.process, x.ordinal)
        ) as rounds,
        coalesce(
            array_agg(x.value / x.slow_down order by t.process, x.ordinal) filter (where not x.is_disturbed),
            array_agg(x.value order by t.process, x.ordinal)
        ) as times
    from trial as t
    join case_ as c on c.key = t.case_key
    join series as s on s.trial_id = t.id and s.metric = 'time' and phase_of(s.stage, s.party, s.step) = 'operation'
    join sample as x on x.series_id = s.id and not x.is_warmup
    where
        t.run_id = %(run_id)s
        and t.status = 'ok'
        and c.comparison_key in (select comparison_key from marked where is_common)
    group by c.comparison_key, c.variant
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
                else p.security_2018 = %(security_compared)s
            end,
            c.comparison_key in (select comparison_key from levels where security_2018 = %(security_compared)s)
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
    s.division,
    m.mean_ratio,
    coalesce(m.common_cases, 0) as common_cases,
    coalesce(m.fastest_in, 0) as fastest_in,
    coalesce(m.compared_cases, 0) as compared_cases,
    s.ok,
    s.unsupported,
    s.failed,
    f.comparison_key,
    f.is_paired,
    f.ratio,
    f.ci_low,
    f.ci_high,
    own.rounds,
    own.times,
    fastest.rounds as fastest_rounds,
    fastest.times as fastest_times
from states as s
left join means as m using (variant, is_composed, division)
left join marked as f
    on f.variant = s.variant and f.is_composed = s.is_composed and f.division = s.division and f.is_common
left join timed as own on own.comparison_key = f.comparison_key and own.variant = f.variant
left join timed as fastest on fastest.comparison_key = f.comparison_key and fastest.variant = f.fastest_variant
order by s.division desc, s.is_composed, m.mean_ratio nulls last, s.variant, f.comparison_key;
