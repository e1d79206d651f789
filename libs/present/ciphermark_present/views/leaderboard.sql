-- A row is a case that every variant shown has a ratio for, with the samples of its rounds and those of the fastest; a
-- variant without such has one row all the same. A time of disturbed samples only is no case. Means, intervals and ranks
-- are made of these rows: see
-- libs/present/ciphermark_present/ranks.py. Operations that a variant has composed are ranked apart, in rows of their own,
-- and so is each tuning; with recommended tuning, a case is of the level that was asked for: the highest not above the one shown. A
-- level of the 2018 table says nothing of the 2024 table.
-- Operands are fresh, or of the top level and cached.
-- What was never resolved is of the levels that others resolved the case to.
with chosen as (
    select coalesce(%(security_compared_2024)s::integer, %(security_compared)s::integer) as level
),
asked as (
    select max(security_bits) as bits
    from case_info
    where
        run_id = %(run_id)s
        and tuning = 'recommended'
        and security_table >= %(table)s::text
        and security_bits <= (select level from chosen)
),
compared as (
    select
        case_info_id,
        variant,
        is_composite,
        tuning,
        comparison_group,
        fastest_variant,
        is_paired,
        variant <> fastest_variant and not (is_paired and coalesce(is_equal_parameters, false)) as is_hollow,
        ratio,
        ci_low,
        ci_high,
        standing,
        rank = 1 or verdict in ('no difference', 'faster') as is_fastest,
        count(*) over (partition by comparison_group, is_composite) as variants
    from ratios
    where
        run_id = %(run_id)s
        and kind = case when %(table)s::text = '2024' then 'equal_security_2024' else 'equal_security' end
        and standing <> 'disturbed'
        and stage = 'evaluate'
        and party is null
        and step is null
        and experiment = any (%(experiments)s)
        and scheme = %(scheme)s
        and case
            when tuning = 'recommended' and security_table >= %(table)s::text then security_bits = (select bits from asked)
            else case when %(table)s::text = '2024' then security_2024 else security_2018 end = (select level from chosen)
        end
        and ring_dimension = any (%(ring_dimension)s)
        and operation = any (%(operation)s)
        and variant = any (%(variant)s)
        and coalesce(level = top_level, level is null)
        and residency is distinct from 'streamed'
),
marked as (
    select
        c.*,
        c.variants = shown.variants as is_common
    from compared as c
    join (
        select is_composite, tuning, count(distinct variant) as variants
        from compared
        group by is_composite, tuning
    ) as shown on shown.is_composite = c.is_composite and shown.tuning = c.tuning
),
counts as (
    select
        variant,
        is_composite,
        tuning,
        count(*) filter (where is_common) as common_cases,
        count(*) filter (where variants > 1) as compared_cases,
        count(*) filter (where variants > 1 and is_fastest) as fastest_in,
        count(*) filter (where variants > 1 and standing = 'win') as wins,
        count(*) filter (where variants > 1 and standing = 'tie') as ties
    from marked
    group by variant, is_composite, tuning
),
timed as (
    select
        i.comparison_group,
        i.variant,
        array_agg(t.process * 1000000000::bigint + x.ordinal order by t.process, x.ordinal) as rounds,
        array_agg(x.value order by t.process, x.ordinal) as times,
        array_agg(case when not x.is_disturbed then x.slowdown end order by t.process, x.ordinal) as slowdowns
    from case_info as i
    join trial as t on t.case_info_id = i.case_info_id
    join series as s on s.trial_id = t.id and s.metric = 'time' and s.stage = 'evaluate' and s.party is null and s.step is null
    join sample as x on x.series_id = s.id and not x.is_warmup
    where
        i.run_id = %(run_id)s
        and i.status = 'ok'
        and i.comparison_group in (select comparison_group from marked where is_common)
    group by i.comparison_group, i.variant
),
levels as (
    select distinct
        comparison_group,
        case when %(table)s::text = '2024' then security_2024 else security_2018 end as level
    from case_info
    where run_id = %(run_id)s and parameter_set_id is not null
),
states as (
    select
        i.variant,
        coalesce(t.facts @> '{"is_composite": 1}', false) as is_composite,
        i.tuning,
        bool_or(i.hexl) as hexl,
        count(*) filter (where i.status = 'ok') as ok,
        count(*) filter (where i.status = 'unsupported') as unsupported,
        count(*) filter (where i.status not in ('ok', 'unsupported')) as failed
    from trial as t
    join case_info as i on i.case_info_id = t.case_info_id
    where
        i.run_id = %(run_id)s
        and i.experiment = any (%(experiments)s)
        and i.scheme = %(scheme)s
        and coalesce(
            case
                when i.tuning = 'recommended' and i.security_table >= %(table)s::text
                    then i.security_bits = (select bits from asked)
                else case when %(table)s::text = '2024' then i.security_2024 else i.security_2018 end
                    = (select level from chosen)
            end,
            i.comparison_group in (select comparison_group from levels where level = (select level from chosen))
            or i.comparison_group not in (select comparison_group from levels)
        )
        and i.ring_dimension = any (%(ring_dimension)s)
        and i.operation = any (%(operation)s)
        and i.variant = any (%(variant)s)
        and coalesce(i.level = cardinality(i.modulus_bits) - i.special_primes - 1, i.level is null)
        and i.residency is distinct from 'streamed'
        and i.is_reference is not true
    group by i.variant, i.tuning, coalesce(t.facts @> '{"is_composite": 1}', false)
)
select
    s.variant,
    s.is_composite,
    s.variant
    || case when s.tuning = 'recommended' then ' (recommended tuning)' else '' end
    || case when s.is_composite then ' (composite)' else '' end as label,
    s.tuning,
    s.hexl,
    coalesce(m.common_cases, 0) as common_cases,
    coalesce(m.fastest_in, 0) as fastest_in,
    coalesce(m.wins, 0) as wins,
    coalesce(m.ties, 0) as ties,
    coalesce(m.compared_cases, 0) as compared_cases,
    s.ok,
    s.unsupported,
    s.failed,
    c.comparison_group,
    c.is_paired,
    c.is_hollow,
    c.ratio,
    c.ci_low,
    c.ci_high,
    own.rounds,
    own.times,
    own.slowdowns,
    fastest.rounds as fastest_rounds,
    fastest.times as fastest_times,
    fastest.slowdowns as fastest_slowdowns
from states as s
left join counts as m using (variant, is_composite, tuning)
left join marked as c
    on c.variant = s.variant and c.is_composite = s.is_composite and c.tuning = s.tuning and c.is_common
left join timed as own on own.comparison_group = c.comparison_group and own.variant = c.variant
left join timed as fastest on fastest.comparison_group = c.comparison_group and fastest.variant = c.fastest_variant
order by s.tuning, s.is_composite, s.variant, c.comparison_group;
