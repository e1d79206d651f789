-- Verdicts and ranks are stored; base is the case that a case is compared with.
create view ratios as
select
    r.kind,
    i.*,
    cardinality(i.modulus_bits) - i.special_primes - 1 as top_level,
    phase_of(r.stage, r.party, r.step) as phase,
    r.stage,
    r.party,
    r.step,
    coalesce(r.repetitions, (i.dimensions ->> 'repetitions')::integer) as repetitions,
    r.rank,
    r.standing,
    r.median as median_s,
    r.n,
    r.ratio,
    r.ci_low,
    r.ci_high,
    r.verdict,
    r.is_paired,
    r.undisturbed_share,
    f.is_composite,
    i.security_2018 = b.security_2018 and i.security_2024 = b.security_2024 as is_equal_security,
    i.ring_dimension = b.ring_dimension and abs(i.log_qp - b.log_qp) <= 1 as is_equal_parameters,
    b.variant as fastest_variant,
    b.ring_dimension as fastest_ring_dimension,
    b.log_qp as fastest_log_qp,
    b.security_2018 as fastest_security_2018,
    b.security_2024 as fastest_security_2024,
    b.key_switching as fastest_key_switching,
    b.decomposition_digits as fastest_decomposition_digits,
    u.variant as uncorrected_fastest_variant,
    r.uncorrected_rank,
    r.uncorrected_standing,
    r.uncorrected_median as uncorrected_median_s,
    r.uncorrected_n,
    r.uncorrected_ratio,
    r.uncorrected_ci_low,
    r.uncorrected_ci_high,
    r.uncorrected_verdict,
    r.uncorrected_is_paired
from ratio as r
join case_info as i on i.case_info_id = r.case_info_id
join case_facts as f on f.case_info_id = r.case_info_id
join case_info as b on b.case_info_id = r.base
join case_info as u on u.case_info_id = r.uncorrected_base;

comment on view ratios is
    'Internal: times divided by those of another case of the comparison group, of every kind: ranking, ranking_2024, '
    'ranking_across_security_levels and speedup are rows of it';
