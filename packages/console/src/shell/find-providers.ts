import type { IconName } from '#app/components/icon.tsx'

/** Something that the palette goes to. */
export interface Found {
  readonly label: string
  /** What kind of thing it is, and where. */
  readonly detail: string
  readonly icon: IconName
  readonly href: string
}

/** Finds things by what was typed. A signal says that more was typed since. */
export type FindProvider = (text: string, signal: AbortSignal) => Promise<readonly Found[]>

const providers: FindProvider[] = []

/** `screens/find.ts` registers what the areas know of. */
export const registerFind = (provider: FindProvider): void => void providers.push(provider)

export const findProviders = (): readonly FindProvider[] => providers
