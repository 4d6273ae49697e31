/** The text of postgresql.conf: loopback, no socket file, safe, and sized for a small machine. */
export const postgresConfig = (port: number): string => `# Written by Headwater at every start: changes are lost.
# What the operator wants otherwise goes into operator.conf beside this file.
listen_addresses = '127.0.0.1'
port = ${port}
unix_socket_directories = ''
max_connections = 100
password_encryption = 'scram-sha-256'

shared_buffers = '256MB'
effective_cache_size = '1GB'
work_mem = '16MB'
maintenance_work_mem = '128MB'
random_page_cost = 1.1
# Compiling costs more than it saves on the short queries of an indexer, and its wrong guesses cost seconds.
jit = off
# Containers give /dev/shm 64 MB or none, and parallel queries then fail; System V memory has to work for the start anyway.
dynamic_shared_memory_type = 'sysv'

synchronous_commit = on
wal_compression = on
max_wal_size = '2GB'
min_wal_size = '256MB'
checkpoint_timeout = '15min'
checkpoint_completion_target = 0.9

timezone = 'UTC'
log_timezone = 'UTC'
lc_messages = 'C'
default_text_search_config = 'pg_catalog.simple'

# One file a weekday, overwritten a week later. Statements are kept out: they may hold keys.
logging_collector = on
log_directory = 'log'
log_filename = 'postgres-%a.log'
log_truncate_on_rotation = on
log_rotation_age = '1d'
log_rotation_size = 0
log_min_messages = warning
log_min_error_statement = panic
log_checkpoints = off

include_if_exists = 'operator.conf'
`;

/** Only by password, only from this machine. */
export const POSTGRES_HBA = '# Written by Headwater at every start.\nhost all all 127.0.0.1/32 scram-sha-256\n';

/** The fields of postmaster.pid that matter: pid and data folder; null when the text is no such file. */
export function parsePostmasterPid(text: string): { pid: number; folder: string } | null {
  const [pid, folder] = text.split('\n');
  return pid && folder && /^\d+$/.test(pid) ? { pid: Number(pid), folder } : null;
}
