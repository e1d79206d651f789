-- Times of operations and of whole stages. Cases that differ in their threads alone have one request otherwise.
select
    r.*,
    options_of(r.dimensions) as options,
    case when r.is_composite then r.operation || ' (composite)' else r.operation end as label,
    (c.request - 'threads')::text as request_but_threads,
    array_remove(array[case when r.undisturbed_share = 0 and r.slowdown is null then 'median' end], null)
        as disturbed_times
from results as r
join case_request as c on c.key = r.case_key
where r.metric = 'time' and r.party is null and r.step is null
