create view results as
select
    i.*,
    cardinality(i.modulus_bits) - i.special_primes - 1 as top_level,
    r.suite,
    r.started_at,
    h.hostname as host,
    h.fingerprint as host_fingerprint,
    phase_of(s.stage, s.party, s.step) as phase,
    s.stage,
    s.party,
    s.step,
    s.metric,
    m.unit,
    coalesce(s.repetitions, (i.dimensions ->> 'repetitions')::integer) as repetitions,
    s.n,
    s.median,
    s.ci_low,
    s.ci_high,
    s.mad,
    s.min,
    s.max,
    s.uncorrected_n,
    s.uncorrected_median,
    s.uncorrected_ci_low,
    s.uncorrected_ci_high,
    m.direction,
    m.threshold,
    m.threshold_kind,
    f.error,
    coalesce(f.is_composite, false) as is_composite,
    s.undisturbed_share,
    s.slowdown,
    f.reference_kernel_s,
    f.reference_kernel_spread,
    f.steal_share,
    f.memory_kernel_s,
    nullif(f.executed_ciphertexts, i.ciphertexts) as executed_ciphertexts
from case_info as i
join run as r on r.id = i.run_id
join host as h on h.id = r.host_id
left join case_facts as f on f.case_info_id = i.case_info_id
left join result as s on s.case_info_id = i.case_info_id
left join metric as m on m.name = s.metric;

comment on view results is
    'Medians with confidence intervals: a row per run, case, status, phase, metric and repetitions. Samples of all '
    'processes of a case are pooled. Each time is divided by its slowdown; disturbed samples count only if there are '
    'no others. Only trials that ended ok count, and in depth and noise also budget_exhausted ones. Failed cases have '
    'one row without a metric';
