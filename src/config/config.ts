/** Everything the environment decides, parsed once at start. Frozen. */
export interface Config {
  readonly host: string
  readonly port: number
  /** Where the operator's own listener is; undefined where there is none, and the operator is served beside the sites. */
  readonly operator: ListenAddress | undefined
  /** Absolute. */
  readonly dataDir: string
  /** What is kept free on the disks of the data folder, the embedded database and objects in files; chosen by their size when undefined. */
  readonly diskReserveBytes: number | undefined
  /** Without a trailing slash; its scheme and port are those of every site's own base URL. */
  readonly baseUrl: string
  /** Below it, each site has a name for its console that has no name of its administration; undefined gives them none. */
  readonly consoleDomain: string | undefined
  /** The value of `Strict-Transport-Security` on every answer; undefined sends none. */
  readonly hsts: string | undefined
  readonly roles: readonly Role[]
  /** Addresses or CIDR blocks whose `X-Forwarded-Host`, `-Proto` and `-For` are believed. */
  readonly trustedProxies: readonly string[]
  /** Whether a site's repository may be a `file:` URL, which reaches into the service's own disk. */
  readonly allowFileRepositories: boolean
  readonly logLevel: LogLevel
  /** `auto` is text on a terminal and JSON elsewhere. */
  readonly logFormat: LogFormat
  /** Whether text on a terminal has colours. */
  readonly logColors: boolean
  readonly sandbox: SandboxConfig
  /** How many streams calls may have open at once on this replica, and how many of them from one address. */
  readonly streams: { readonly perReplica: number; readonly perAddress: number }
  /** Undefined where no spans are recorded. */
  readonly tracing: TracingConfig | undefined
  readonly s3: S3Config | undefined
  /** Recursive name servers that are asked in place of those of `/etc/resolv.conf`. */
  readonly dnsServers: readonly DnsServerAddress[] | undefined
  readonly mail: MailConfig
}

export interface DnsServerAddress {
  /** IPv4 or IPv6. */
  readonly address: string
  readonly port: number
}

interface ListenAddress {
  readonly host: string
  /** 0 for any that is free. */
  readonly port: number
}

export const FORWARD_FROM = ['original', 'mailbox'] as const

export const ROLES = ['api', 'mail', 'worker'] as const
type Role = (typeof ROLES)[number]

export const LOG_LEVELS = ['trace', 'debug', 'info', 'warn', 'error', 'silent'] as const
type LogLevel = (typeof LOG_LEVELS)[number]

export const LOG_FORMATS = ['auto', 'json', 'text'] as const
type LogFormat = (typeof LOG_FORMATS)[number]

export interface SandboxConfig {
  /** Host processes. */
  readonly hosts: number
  /** Resident memory at which a host process is killed. */
  readonly hostMemoryMb: number
  /** Resident memory of all of them together at which one is replaced when its calls have ended. */
  readonly memoryMb: number
  /** Warm isolates per host process. */
  readonly warmIsolates: number
  /** The user that its processes run as when the service is root; chosen by the data folder when undefined. */
  readonly uid: number | undefined
  /** What the service does not start without. */
  readonly require: 'jail' | undefined
}

export interface TracingConfig {
  /** Of the collector, by OTLP over HTTP; without a slash at its end. */
  readonly endpoint: string
  readonly serviceName: string
  /** Which part of the requests that come without a trace begins one; from 0 to 1. */
  readonly sampleRatio: number
}

export interface S3Config {
  /** Undefined for AWS itself. */
  readonly endpoint: string | undefined
  readonly region: string
  readonly bucket: string
  readonly forcePathStyle: boolean
}

export interface MailConfig {
  /** Where other mail servers deliver; port 0 takes any that is free. */
  readonly smtpHost: string
  readonly smtpPort: number
  /** The name by which this server introduces itself and signs its verdicts. */
  readonly smtpHostname: string
  /** PEM files; undefined for a certificate that the service makes itself. */
  readonly smtpTls: { readonly certFile: string; readonly keyFile: string } | undefined
  readonly smtpLimits: SmtpLimits
  /** Where owners of mailboxes hand mail in with their mail programs, at `smtpHost`. */
  readonly submissionPort: number
  /** Which name is in From of forwarded mail: its author's, or the mailbox's for gateways that refuse all others. */
  readonly forwardFrom: (typeof FORWARD_FROM)[number]
  /** What SPF must allow so that the gateway may send for the sites: `include:spf.example.com`. */
  readonly spfMechanisms: readonly string[]
}

/** What one connection, network or site may do to the mail server. A network is an IPv4 address or an IPv6 /64. */
interface SmtpLimits {
  readonly messageBytes: number
  readonly connections: number
  readonly connectionsPerNetwork: number
  readonly messagesPerMinutePerNetwork: number
  readonly messagesPerMinutePerSite: number
}

/** Kept apart from the configuration, so that no logger sees it. Undefined keys are generated into, or read from, the data folder. */
export interface Secrets {
  readonly databaseUrl: string | undefined
  readonly redisUrl: string | undefined
  readonly smtpUrl: string | undefined
  readonly operatorKey: string | undefined
  /** 32 bytes in base64 or base64url. */
  readonly masterKey: string | undefined
  readonly s3AccessKeyId: string | undefined
  readonly s3SecretAccessKey: string | undefined
}
