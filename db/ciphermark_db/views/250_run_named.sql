create function run_named(asked text) returns text
language plpgsql stable
as $$
declare
    ids text[] := array(select runs_named(asked));
begin
    if cardinality(ids) = 1 then
        return ids[1];
    elsif cardinality(ids) = 0 then
        raise no_data_found using message = format('no run is named %L', asked), hint = 'The view runs lists all runs.';
    end if;
    raise too_many_rows using message = format('several runs begin with %L', asked), hint = 'Write more of the id.';
end
$$;

comment on function run_named(text) is
    'The run that a text names: an id or its beginning, a label (its latest run), last, last~1 (the one before), '
    'last:SUITE. Runs from archives come last, and reference runs only by id or label. Raises an error if it names none or several';
