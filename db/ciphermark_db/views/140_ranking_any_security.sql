create view ranking_any_security as select * from ratios where kind = 'any_security';

comment on view ranking_any_security is
    'As ranking, but across security levels, with one fastest variant of them all: a ratio with is_equal_security false '
    'compares unlike things';
