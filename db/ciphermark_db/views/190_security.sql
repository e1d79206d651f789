create view security as
select distinct on (i.parameter_set_id)
    i.parameter_set_id,
    i.scheme,
    {{parameters}},
    u.variants
from case_info as i
join (
    select parameter_set_id, array_agg(distinct variant) as variants
    from case_info
    where parameter_set_id is not null
    group by parameter_set_id
) as u on u.parameter_set_id = i.parameter_set_id
order by i.parameter_set_id, i.case_info_id;

comment on view security is 'Every parameter set that a library used, with its security by both tables';
