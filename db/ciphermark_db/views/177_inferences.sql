-- An inference is any workload that records the error of its logits: this view knows no workload by name.
create view inferences as
select
    *,
    images / nullif(infer_s, 0) as images_per_s,
    infer_s / nullif(images, 0) as image_s,
    round(agreement * images) || ' of ' || images as agreeing,
    round(accuracy * images) || ' of ' || images as correct
from (
    select
        i.*,
        options_of(i.dimensions) as options,
        coalesce((i.dimensions ->> 'inputs_per_pass')::integer, 1)
        * coalesce(max(r.median) filter (where r.metric = 'images'), 1)::integer as images,
        max(r.median) filter (where r.is_time and r.step = 'evaluate') as infer_s,
        max(r.ci_low) filter (where r.is_time and r.step = 'evaluate') as ci_low,
        max(r.ci_high) filter (where r.is_time and r.step = 'evaluate') as ci_high,
        case
            when bool_or(r.undisturbed_share = 0 and r.slowdown is null) filter (
                where r.is_time and r.step = 'evaluate'
            ) then array['infer_s', 'images_per_s', 'image_s']
            else '{}'
        end
        || array_remove(
            array_agg(
                distinct case
                    when not r.is_time or r.undisturbed_share is distinct from 0 or r.slowdown is not null then null
                    when r.party is not null then r.party || '_s'
                    when r.step in ('pack', 'encrypt') then 'encrypt_s'
                    when r.step in ('decrypt', 'unpack') then 'decrypt_s'
                    when r.step in ('serialize', 'deserialize') then 'serialize_s'
                    when r.step in ('trace', 'encode') then 'preparation_s'
                end
            ),
            null
        ) as disturbed_times,
        max(r.uncorrected_median) filter (where r.is_time and r.step = 'evaluate') as uncorrected_infer_s,
        sum(r.median) filter (where r.is_time and r.step in ('pack', 'encrypt')) as encrypt_s,
        sum(r.median) filter (where r.is_time and r.step in ('decrypt', 'unpack')) as decrypt_s,
        sum(r.median) filter (where r.is_time and r.step in ('serialize', 'deserialize')) as serialize_s,
        max(r.median) filter (where r.is_time and r.party = 'client') as client_s,
        max(r.median) filter (where r.is_time and r.party = 'server') as server_s,
        sum(r.median) filter (where r.is_time and r.step in ('trace', 'encode')) as preparation_s,
        max(r.median) filter (where r.is_whole_size and r.stage = a.inferring) as upload,
        max(r.median) filter (
            where r.metric = 'size' and r.step = 'returned' and r.stage = a.inferring
        ) as download,
        max(r.median) filter (where r.is_whole_size and r.stage = 'prepare') as keys_size,
        sum(r.median) filter (where r.is_whole_size and r.stage not in ('prepare', a.inferring)) as weights_size,
        max(r.median) filter (where r.metric = 'agreement') as agreement,
        max(r.median) filter (where r.metric = 'accuracy') as accuracy,
        max(r.max) filter (where r.metric = 'logit_error') as logit_error,
        min(r.median) filter (where r.metric = 'margin') as margin
    from case_info as i
    join lateral (
        select max(stage) as inferring from result where case_info_id = i.case_info_id and metric = 'logit_error'
    ) as a on a.inferring is not null
    join lateral (
        select
            *,
            metric = 'time' and stage = a.inferring as is_time,
            metric = 'size' and step is null and party is null as is_whole_size
        from result
        where case_info_id = i.case_info_id
    ) as r on true
    where i.status = 'ok'
    group by i.case_info_id
) as each;

comment on view inferences is
    'Networks on encrypted images: time, traffic and accuracy of a pass, a row per run and case';
