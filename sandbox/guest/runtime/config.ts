/** What the host tells a context when it boots. */
export interface BootConfig {
  readonly site: { readonly siteId: string; readonly siteDomain: string }
  readonly env: Readonly<Record<string, string>>
  readonly handler: string
  readonly entry: string
  readonly resultBytes: number
  readonly logLineLength: number
  readonly logLines: number
}

let config: BootConfig | undefined

export function setConfig(value: BootConfig): void {
  config = value
}

export function configured(): BootConfig {
  if (!config) throw new Error('The context has not been booted')
  return config
}
