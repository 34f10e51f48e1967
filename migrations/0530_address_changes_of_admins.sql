-- Who asked for the new address, where it was not the owner of the account: the sign-ins of the account end with the change.
alter table address_change add column requested_by text;
