import type { Actor } from '#base/actor.ts'
import type { FieldFault } from '#base/app-error.ts'
import type { SiteAudit } from '#identity/security-events/model.ts'
import type { SiteTx } from '#platform/postgres/database.ts'
import type { EnvVarChange } from '#runtime/env-vars/model.ts'
import type { FunctionConfig } from '#runtime/resources/function-config.ts'
import type { ResourceType } from '#runtime/resources/model.ts'

/** The parts of a definition, in the order in which changes of them are carried out; deletions go the other way. */
export const SECTION_NAMES = ['envVars', 'groups', 'resources', 'operations', 'jobs'] as const
export type SectionName = (typeof SECTION_NAMES)[number]

/** What one item needs another for. */
export interface Link {
  /** The field of the item, as a fault names it. */
  readonly field: string
  readonly section: 'envVars' | 'groups' | 'resources' | 'operations'
  readonly name: string
  /** What a resource must be; anything but a function for a grant. */
  readonly types?: readonly ResourceType[]
}

/** One thing that a site has, in the one form in which definitions say it. */
export interface SiteItem {
  readonly name: string
  readonly canonical: Readonly<Record<string, unknown>>
  readonly links: readonly Link[]
  /** The type of a resource. */
  readonly type?: ResourceType
}

export type PutAction = 'create' | 'update' | 'none'

/** The job that a change belongs to. */
export interface ChangeContext {
  readonly actor: Actor
  readonly audit: SiteAudit
  /** Names of the section that the job deletes at its end: until then they do not count against what a site may hold. */
  readonly toDelete: ReadonlySet<string>
}

/** One thing that a definition asks for. */
export interface DefinedItem extends SiteItem {
  /** The name that it had before, if that is what the site has. */
  readonly renamedFrom?: string
  /** Fields that are left out keep what the site has. */
  readonly partial?: boolean
  /** What speaks against creating it or changing the site's item to it, beside its links. */
  fault?(tx: SiteTx): Promise<FieldFault | undefined>
  /** What speaks against turning the site's item into this one. */
  conflict?(current: SiteItem): FieldFault | undefined
  /** Whether it is another thing altogether, for which the site's item has to go. */
  mustReplace?(current: SiteItem): boolean
  /** Of a function, its grants by name. */
  readonly functionConfig?: FunctionConfig
  /** What it makes of a variable. */
  readonly variable?: EnvVarChange
  /** Makes it so; what it displaces is set aside if the job deletes it. The caller has locked the site and asks for the revision. */
  put(tx: SiteTx, by: ChangeContext): Promise<PutAction>
}

/** An item and its place in the section's list. */
export interface IndexedItem {
  readonly index: number
  readonly item: DefinedItem
}

/** How one part of a definition is read, compared and written. */
export interface DefinitionSection {
  readonly name: SectionName
  readonly maxItems: number
  /** Throws faults that name fields of the item. */
  parse(value: unknown): DefinedItem
  all(tx: SiteTx): Promise<SiteItem[]>
  /** What `put` would do, where the canonical forms do not tell: values that are never shown. Faults name the whole field. */
  actions?(
    tx: SiteTx,
    placed: readonly IndexedItem[],
    toDelete: ReadonlySet<string>,
  ): Promise<ReadonlyMap<string, PutAction>>
  /**
   * Gives a thing another name, under which it keeps what it holds; what links to it follows. Where it is missing, no name
   * before can be said.
   */
  rename?(
    tx: SiteTx,
    names: { readonly from: string; readonly to: string },
    by: Pick<ChangeContext, 'actor' | 'audit'>,
  ): Promise<void>
  /** False when it is gone already. */
  delete(tx: SiteTx, name: string, by: Pick<ChangeContext, 'actor' | 'audit'>): Promise<boolean>
  /** Deletes what was set aside when its name was taken over. */
  deleteDisplaced?(tx: SiteTx, name: string, by: Pick<ChangeContext, 'audit'>): Promise<boolean>
}
