import type { ErrorCode } from '#base/error-status.ts'

/** Why a deployment does not become the current one, by whichever route it is activated. */
export const ACTIVATION_ERRORS: readonly ErrorCode[] = [
  'ArtifactDirMismatch',
  'ConfirmationRequired',
  'DeploymentNotReady',
  'DeploymentRemoved',
  'DeploymentReplaced',
  'ImmutableField',
  'InvalidArtifact',
  'InvalidCode',
  'QuotaExceeded',
  'ResourceInUse',
]
