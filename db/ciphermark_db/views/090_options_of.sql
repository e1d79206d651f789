-- The dimensions that a workload's suite varied, in words. Others have their own columns.
create function options_of(dimensions jsonb) returns text
language sql immutable parallel safe
begin atomic
    select string_agg(each.key || ' ' || each.value, ', ' order by each.key)
    from jsonb_each_text(dimensions - array['data_set', 'level', 'residency']) as each;
end;

comment on function options_of(jsonb) is 'Internal: all dimensions except the data set, level and residency as one text; NULL without any';
