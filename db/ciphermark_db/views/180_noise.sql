create view noise as
select
    i.*,
    phase_of(s.stage, s.party, s.step) as phase,
    s.repetitions,
    max(s.median) filter (where s.metric = 'noise_budget') as noise_budget_bits,
    max(s.median) filter (where s.metric = 'precision') as precision_bits
from case_info as i
join result as s on s.case_info_id = i.case_info_id and s.metric in ('noise_budget', 'precision')
group by i.case_info_id, s.stage, s.party, s.step, s.repetitions;

comment on view noise is 'Remaining noise budget or precision: a row per run, case, status, phase and repetitions';
