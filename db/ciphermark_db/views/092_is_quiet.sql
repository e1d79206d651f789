-- What slowed a sample by less than the noise floor shows no difference between figures either.
create function is_quiet(is_disturbed boolean, slow_down double precision) returns boolean
language sql stable parallel safe
return not is_disturbed and slow_down <= noise_floor();

comment on function is_quiet(boolean, double precision) is
    'Internal: whether a sample was taken while the host was quiet';
