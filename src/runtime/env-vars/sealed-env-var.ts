/** A variable as a revision carries it: without the site's key nobody can read it. */
export interface SealedEnvVar {
  readonly name: string
  readonly secret: boolean
  /** Base64 of what `EnvVars` sealed. */
  readonly sealed: string
}

/** The same for the code that may see it. */
export interface OpenEnvVar {
  readonly value: string
  readonly secret: boolean
}
