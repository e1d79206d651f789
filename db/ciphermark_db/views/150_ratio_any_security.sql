create view ratio_any_security as select * from ratios(true);

comment on view ratio_any_security is
    'As ratio, but across security levels: a ratio with is_equal_security false compares unlike things. '
    'Columns mean what they mean in ratio, but for those that are about the level';
comment on column ratio_any_security.fastest_variant is
    'Variant with the lowest median time, whatever its security; its own row has ratio 1';
comment on column ratio_any_security.is_equal_security is
    'Whether this variant and the fastest have the same security_2018; where false the ratio compares unlike things';
comment on column ratio_any_security.rank is 'Place by median time, whatever the security; 1 for the fastest';
