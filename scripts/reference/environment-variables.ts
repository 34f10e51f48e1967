export interface VariableText {
  /** Where it is not set. */
  readonly default: string
  readonly text: string
}

const SERVICE = 'that of the service'

/** What each variable is for, under the headings of the page. */
export const VARIABLES: Readonly<Record<string, Readonly<Record<string, VariableText>>>> = {
  Listeners: {
    PORT: {
      default: '`8080`',
      text: 'Port of HTTP. Without `OPERATOR_PORT` the operator’s routes are on it too.',
    },
    HOST: { default: '`127.0.0.1`', text: 'Address that HTTP listens on.' },
    OPERATOR_PORT: {
      default: 'none',
      text: 'Port for portal, `/metrics` and probes alone ([watch](../how-to/watch.md)). The portal then leaves `PORT`.',
    },
    OPERATOR_HOST: { default: '`127.0.0.1`', text: 'Address that the operator’s port listens on.' },
    CROFT_BASE_URL: {
      default: '`http://localhost:{PORT}`',
      text: 'Scheme and port of every site’s address. Its host is the first site.',
    },
    CROFT_CONSOLE_DOMAIN: {
      default: '`console.localhost` with a base URL on this machine',
      text: 'Domain below which each site without an `adminDomain` has a name for its [console](../how-to/console.md).',
    },
    CROFT_TRUSTED_PROXIES: {
      default: 'none',
      text: 'Proxies whose `X-Forwarded-For` and `-Host` are believed, or `Forwarded` (RFC 7239) if they send neither. The last value of each counts, without a port; a value that is not an address counts as the proxy’s own.',
    },
    CROFT_HSTS: {
      default: '`max-age=31536000` over TLS',
      text: '`Strict-Transport-Security` where the base URL is https. `off` if the proxy sends its own.',
    },
    CROFT_STREAMS: { default: '`10000`', text: 'Open streams of a replica.' },
    CROFT_STREAMS_PER_ADDRESS: { default: '`1000`', text: 'Open streams of one client address.' },
  },
  Storage: {
    CROFT_DATA_DIR: {
      default: '`.croft`',
      text: 'Folder of database, objects and keys. One service at a time uses it.',
    },
    CROFT_DISK_RESERVE_MB: {
      default: '512, or a tenth of a small disk',
      text: 'Space that is kept free for sign-in and the database. Below it, writes get 503 `DiskFull`.',
    },
    DATABASE_URL: { default: 'embedded PostgreSQL 18', text: 'PostgreSQL 15 or newer.' },
    REDIS_URL: {
      default: 'none',
      text: 'Shares cached responses and counts of wrong guesses between replicas. `?cluster=true` for Redis Cluster.',
    },
    S3_BUCKET: { default: 'files in the data folder', text: 'Bucket for objects.' },
    S3_REGION: { default: '`us-east-1`', text: 'Region of the bucket.' },
    S3_ENDPOINT: { default: 'AWS', text: 'Another server with S3’s API.' },
    S3_ACCESS_KEY_ID: { default: 'AWS’s own places', text: 'With `S3_SECRET_ACCESS_KEY`.' },
    S3_SECRET_ACCESS_KEY: { default: 'AWS’s own places', text: 'With `S3_ACCESS_KEY_ID`.' },
    S3_FORCE_PATH_STYLE: {
      default: '`true` with an endpoint',
      text: 'Whether the bucket is in the path, not in the host.',
    },
  },
  Keys: {
    CROFT_MASTER_KEY: {
      default: 'generated, `master.key`',
      text: 'Seals every secret in the database. Without it they are lost.',
    },
    CROFT_OPERATOR_KEY: {
      default: 'generated, `operator.key`',
      text: 'Opens `/portal/api`, which the command line uses.',
    },
    CROFT_DEPLOY_TOKEN: {
      default: 'none',
      text: 'For the command line: a deploy token of the site, instead of the operator key.',
    },
    CROFT_ARCHIVE_PASSPHRASE: {
      default: 'none',
      text: 'For `croft site export` and `croft site import`: seals the secrets in an archive.',
    },
  },
  Mail: {
    SMTP_URL: {
      default: 'mail stays in `croft outbox`',
      text: 'Gateway that sends mail ([mail and DNS](../how-to/mail-and-dns.md)).',
    },
    SMTP_PORT: { default: '`2525`', text: 'Port where other servers deliver mail.' },
    SMTP_HOST: { default: '`HOST`', text: 'Address that the ports for mail listen on.' },
    SMTP_HOSTNAME: { default: 'host of the base URL', text: 'Name of this mail server.' },
    SMTP_SPF: { default: 'none', text: 'What SPF must allow for the gateway to send.' },
    SMTP_TLS_CERT: {
      default: 'one of its own, `smtp-tls.pem`',
      text: 'PEM file for STARTTLS. Read again when it changes.',
    },
    SMTP_TLS_KEY: { default: 'as above', text: 'PEM file of its key.' },
    SMTP_MAX_MESSAGE_BYTES: { default: '35 MiB', text: 'The largest message.' },
    SMTP_MAX_CONNECTIONS: { default: '`1000`', text: 'Open connections.' },
    SMTP_MAX_CONNECTIONS_PER_NETWORK: {
      default: '`50`',
      text: 'Open connections of an IPv4 address or an IPv6 /64.',
    },
    SMTP_MESSAGES_PER_MINUTE_PER_NETWORK: {
      default: '`600`',
      text: 'Beyond that 450: the sender tries again.',
    },
    SMTP_MESSAGES_PER_MINUTE_PER_SITE: {
      default: '`6000`',
      text: 'Beyond that 450: the sender tries again.',
    },
    SUBMISSION_PORT: {
      default: '`2587`',
      text: 'Port where mail programs send ([mailboxes](../how-to/mailboxes.md#mail-programs)), at `SMTP_HOST`.',
    },
    FORWARD_FROM: {
      default: '`original`',
      text: 'Name in From of forwarded mail: its author’s, or with `mailbox` the mailbox’s.',
    },
    CROFT_DNS_SERVERS: {
      default: 'those of `/etc/resolv.conf`',
      text: 'Recursive name servers that mail and `croft site dns` ask.',
    },
  },
  'Processes and site code': {
    CROFT_ROLES: {
      default: '`api,mail,worker`',
      text: 'What this process does. `mail` takes mail at `SMTP_PORT` and `SUBMISSION_PORT`.',
    },
    CROFT_SANDBOX_MEMORY_MB: {
      default: 'half of the machine’s, at least 256',
      text: 'Resident memory of all processes of site code together, from which the next three follow. Over it, the largest is replaced when its calls have ended; a spare and further processes start only if they fit. A container’s limit counts as the machine’s memory.',
    },
    CROFT_SANDBOX_HOSTS: {
      default: 'cores − 1, at most one for each 256 MB, at least 2',
      text: 'Processes that run site code, at most. One runs always, more when calls keep it busy; a spare is kept ready while calls arrive, and two more when sites run long or crash.',
    },
    CROFT_SANDBOX_HOST_MEMORY_MB: {
      default: 'a quarter of all, from 1024 to 4096',
      text: 'Resident memory at which one process is replaced.',
    },
    CROFT_SANDBOX_WARM_ISOLATES: {
      default: 'one for each 5 MB of a process’s share',
      text: 'Sites that are kept loaded in each process.',
    },
    CROFT_SANDBOX_REQUIRE: {
      default: 'nothing',
      text: '`jail`: does not start without the walls around site code.',
    },
    CROFT_SANDBOX_UID: {
      default: '62000 to 63999, by data folder',
      text: 'User that runs site code when Croft runs as root.',
    },
    CROFT_ALLOW_FILE_REPOSITORIES: {
      default: '`false`',
      text: 'Whether a site’s repository may be a `file:` URL on this machine.',
    },
  },
  'Logs and traces': {
    CROFT_LOG_LEVEL: { default: '`info`', text: 'Lines of lower levels are left out.' },
    CROFT_LOG_FORMAT: { default: '`auto`', text: '`auto` is text on a terminal, else JSON.' },
    NO_COLOR: { default: 'none', text: 'Any value: text without colors.' },
    OTEL_EXPORTER_OTLP_ENDPOINT: {
      default: 'none',
      text: 'Collector of [spans](../how-to/watch.md#traces). Its headers, timeout and certificates have OpenTelemetry’s names.',
    },
    OTEL_EXPORTER_OTLP_PROTOCOL: { default: '`http/json`', text: 'The only one.' },
    OTEL_SERVICE_NAME: { default: '`croft`', text: 'Name of the service in spans.' },
    OTEL_TRACES_SAMPLER: {
      default: '`parentbased_always_on`',
      text: 'Which traces are recorded where the request does not say.',
    },
    OTEL_TRACES_SAMPLER_ARG: { default: '`1`', text: 'The ratio of `parentbased_traceidratio`.' },
    OTEL_SDK_DISABLED: { default: '`false`', text: '`true`: no spans.' },
  },
  'Backups: `croft backup` and `croft restore`': {
    BACKUP_DATABASE_URL: { default: SERVICE, text: 'Role that reads the rows of all sites.' },
    BACKUP_S3_ENDPOINT: { default: SERVICE, text: 'Server of the bucket for backups.' },
    BACKUP_S3_REGION: { default: SERVICE, text: 'Its region.' },
    BACKUP_S3_ACCESS_KEY_ID: { default: SERVICE, text: 'With `BACKUP_S3_SECRET_ACCESS_KEY`.' },
    BACKUP_S3_SECRET_ACCESS_KEY: { default: SERVICE, text: 'With `BACKUP_S3_ACCESS_KEY_ID`.' },
    BACKUP_S3_FORCE_PATH_STYLE: { default: SERVICE, text: 'Whether the bucket is in the path.' },
  },
}
