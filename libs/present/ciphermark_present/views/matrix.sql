-- What was measured comes from the ratios, which have the medians, too; what was not, from its cases. What was never
-- resolved is of the levels that others resolved the same case to, and composite where that of others is. Chains are those
-- that were asked for: libraries may change one.
select
    i.*,
    case when cell.is_composite then i.operation || ' (composite)' else i.operation end as label,
    i.requested_ring_dimension as asked_ring_dimension,
    cardinality(c.modulus_bits) - c.special_primes - 1 as top_level,
    cell.phase,
    cell.repetitions,
    cell.is_composite,
    cell.median,
    cell.rank,
    cell.standing,
    cell.ratio,
    cell.ci_low,
    cell.ci_high,
    cell.verdict,
    cell.is_paired,
    cell.is_equal_parameters,
    cell.fastest_variant,
    cell.fastest_ring_dimension,
    cell.fastest_log_qp,
    cell.fastest_security_2018,
    cell.fastest_security_2024,
    cell.fastest_key_switching,
    cell.fastest_decomposition_digits,
    cell.uncorrected_median,
    cell.uncorrected_rank,
    cell.uncorrected_standing,
    cell.uncorrected_ratio,
    cell.uncorrected_ci_low,
    cell.uncorrected_ci_high,
    cell.uncorrected_verdict,
    cell.uncorrected_fastest_variant,
    cell.error
from (
    select
        r.case_info_id,
        r.phase,
        r.repetitions,
        r.is_composite,
        r.median_s as median,
        r.rank,
        r.standing,
        r.ratio,
        r.ci_low,
        r.ci_high,
        r.verdict,
        r.is_paired,
        r.is_equal_parameters,
        r.fastest_variant,
        r.fastest_ring_dimension,
        r.fastest_log_qp,
        r.fastest_security_2018,
        r.fastest_security_2024,
        r.fastest_key_switching,
        r.fastest_decomposition_digits,
        r.uncorrected_median_s as uncorrected_median,
        r.uncorrected_rank,
        r.uncorrected_standing,
        r.uncorrected_ratio,
        r.uncorrected_ci_low,
        r.uncorrected_ci_high,
        r.uncorrected_verdict,
        r.uncorrected_fastest_variant,
        null as error,
        null::integer as level
    from ratios as r
    where
        r.run_id = %(run_id)s
        and r.kind = case
            when %(across_security_levels)s then 'across_security_levels'
            when %(table)s::text = '2024' then 'equal_security_2024'
            else 'equal_security'
        end
    union all
    select
        c.case_info_id,
        null,
        (c.dimensions ->> 'repetitions')::integer,
        f.is_composite or coalesce(l.is_composite, false),
        null, null, null, null, null, null, null, null, null, null, null, null, null, null, null, null, null, null, null,
        null, null, null, null, null,
        f.error,
        l.level
    from case_info as c
    join case_facts as f on f.case_info_id = c.case_info_id
    left join (
        select distinct
            o.comparison_group,
            case when %(table)s::text = '2024' then o.security_2024 else o.security_2018 end as level,
            x.is_composite
        from case_info as o
        join case_facts as x on x.case_info_id = o.case_info_id
        where o.run_id = %(run_id)s and o.parameter_set_id is not null
    ) as l on l.comparison_group = c.comparison_group and c.parameter_set_id is null
    where c.run_id = %(run_id)s and c.status <> 'ok'
) as cell
join case_info as c on c.case_info_id = cell.case_info_id
cross join lateral jsonb_populate_record(
    c,
    jsonb_build_object('modulus_bits', c.requested_modulus_bits)
    || case
        when cell.level is null then '{}'
        when %(table)s::text = '2024' then jsonb_build_object(
            'security_2024', cell.level, 'security_compared_2024', coalesce(c.security_compared_2024, cell.level)
        )
        else jsonb_build_object(
            'security_2018', cell.level, 'security_compared', coalesce(c.security_compared, cell.level)
        )
    end
) as i
