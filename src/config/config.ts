/** Everything the environment decides, parsed once at start. Frozen. */
export interface Config {
  readonly host: string
  readonly port: number
  /** Absolute. */
  readonly dataDir: string
  /** Without a trailing slash; its scheme and port are those of every site's own base URL. */
  readonly baseUrl: string
  readonly roles: readonly Role[]
  /** Addresses or CIDR blocks whose `X-Forwarded-Host`, `-Proto` and `-For` are believed. */
  readonly trustedProxies: readonly string[]
  /** Hosts that also serve `/portal/api`; every host does when empty. */
  readonly logLevel: 'trace' | 'debug' | 'info' | 'warn' | 'error' | 'silent'
  readonly sandbox: SandboxConfig
  readonly s3: S3Config | undefined
}

export type Role = 'api' | 'mail' | 'worker'

export interface SandboxConfig {
  /** Host processes. */
  readonly hosts: number
  /** Resident memory at which a host process is killed. */
  readonly hostMemoryMb: number
  /** Warm isolates per host process. */
  readonly warmIsolates: number
}

export interface S3Config {
  readonly endpoint: string | undefined
  readonly region: string
  readonly bucket: string
  readonly forcePathStyle: boolean
}

/** The second object: never meets a logger. Undefined values are generated into, or read from, the data folder. */
export interface Secrets {
  readonly databaseUrl: string | undefined
  readonly redisUrl: string | undefined
  readonly operatorKey: string | undefined
  readonly masterKey: string | undefined
  readonly s3AccessKeyId: string | undefined
  readonly s3SecretAccessKey: string | undefined
}
