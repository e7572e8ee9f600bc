"""From a snapshot to what people see; decides nothing."""
