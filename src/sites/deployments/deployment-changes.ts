import { type Static, Type } from '@sinclair/typebox'

const Paths = Type.Array(Type.String())

/** The paths of files that differ, each list in order. */
const FileChanges = Type.Object({ added: Paths, changed: Paths, removed: Paths })
export type FileChanges = Static<typeof FileChanges>

/** What becomes of an entry of a definition. */
const DefinitionChange = Type.Object({
  section: Type.String(),
  name: Type.String(),
  action: Type.Union([Type.Literal('added'), Type.Literal('changed'), Type.Literal('removed')]),
})
export type DefinitionChange = Static<typeof DefinitionChange>

/** What a deployment is against the one that it replaced. */
export const DeploymentChanges = Type.Object({
  /** Null for the first one. */
  replacedDeploymentId: Type.Union([Type.String(), Type.Null()]),
  files: FileChanges,
  /** By the texts of `croft.json`. */
  definition: Type.Array(DefinitionChange),
})
export type DeploymentChanges = Static<typeof DeploymentChanges>

/** The layer above knows what a definition is; texts are undefined where there is none. */
export type DefinitionDiff = (
  before: string | undefined,
  after: string | undefined,
) => DefinitionChange[]
