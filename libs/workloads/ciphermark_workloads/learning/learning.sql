select
    *,
    sent_bytes / nullif(plaintext_bytes, 0) as expansion
from (
    select
        i.*,
        f.error,
        options_of(i.dimensions) as options,
        max(r.median) filter (where r.metric = 'time' and phase_of(r.stage, r.party, r.step) = 'prepare') as prepare_s,
        max(r.median) filter (where r.metric = 'time' and phase_of(r.stage, r.party, r.step) = 'train') as train_s,
        max(r.median) filter (where r.metric = 'time' and phase_of(r.stage, r.party, r.step) = 'infer') as infer_s,
        max(r.ci_low) filter (where r.metric = 'time' and phase_of(r.stage, r.party, r.step) = 'prepare') as prepare_low,
        max(r.ci_high) filter (where r.metric = 'time' and phase_of(r.stage, r.party, r.step) = 'prepare') as prepare_high,
        max(r.ci_low) filter (where r.metric = 'time' and phase_of(r.stage, r.party, r.step) = 'train') as train_low,
        max(r.ci_high) filter (where r.metric = 'time' and phase_of(r.stage, r.party, r.step) = 'train') as train_high,
        max(r.ci_low) filter (where r.metric = 'time' and phase_of(r.stage, r.party, r.step) = 'infer') as infer_low,
        max(r.ci_high) filter (where r.metric = 'time' and phase_of(r.stage, r.party, r.step) = 'infer') as infer_high,
        array_remove(
            array_agg(
                case
                    when
                        r.metric = 'time' and coalesce(r.party, r.step) is null
                        and r.undisturbed_share = 0 and r.slowdown is null
                        then r.stage || '_s'
                end
            ),
            null
        ) as disturbed_times,
        max(r.median) filter (where r.metric = 'accuracy') as accuracy,
        max(r.median) filter (where r.metric = 'mse') as mse,
        max(r.median) filter (where r.metric = 'agreement') as agreement,
        max(r.median) filter (where r.metric = 'noise_error') as noise_error,
        max(r.median) filter (where r.metric = 'rounding_error') as rounding_error,
        max(r.max) filter (where r.metric = 'max_error') as max_error,
        sum(r.median) filter (where r.metric = 'plaintext_size') as plaintext_bytes,
        sum(r.median) filter (
            where r.metric = 'size' and phase_of(r.stage, r.party, r.step) in ('train', 'infer')
        ) as sent_bytes
    from case_info as i
    left join case_facts as f on f.case_info_id = i.case_info_id
    left join result as r on r.case_info_id = i.case_info_id
    group by i.case_info_id, f.case_info_id
) as each
