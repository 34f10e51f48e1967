import type { ErrorCode } from '#base/error-status.ts'

import type { CauseAndCure } from './other-errors.ts'

const LATER = 'Repeat the request after `Retry-After` seconds.'
const OTHER_NAME = 'Choose another name, or change the one that exists.'

/** Codes of requests that the state of the site or the service does not allow. */
export const STATE_ERRORS = {
  SiteAlreadyExists: ['Another site has the domain.', 'Choose another domain.'],
  ResourceAlreadyExists: ['The site has a resource of this name.', OTHER_NAME],
  ResourceInUse: [
    'Operations, functions or jobs use the resource; the error lists them.',
    'Change or delete those first.',
  ],
  ConditionalCheckFailed: [
    'The condition of a table write is false for the stored item.',
    'Read the item, and decide again.',
  ],
  TransactionCanceled: [
    'An action of the transaction failed; `reasons` has one entry for each.',
    'Correct the action, or repeat after a conflict.',
  ],
  PreconditionFailed: [
    'An object with this key exists, and the request allows none.',
    'Choose another key, or drop `ifNoneMatch`.',
  ],
  QuotaExceeded: [
    'The site would exceed a limit; the error has its name and figures.',
    'Delete something, or raise it: `croft site update --limit`.',
  ],
  DeploymentRemoved: [
    'The files of the deployment are no longer kept.',
    'Deploy that version again.',
  ],
  DeploymentReplaced: [
    'Another deployment became current since the caller looked.',
    'Look at the deployments, then decide again.',
  ],
  DeploymentAlreadyCurrent: ['The site runs this deployment.', 'Nothing is left to do.'],
  DeploymentNotReady: ['The site never ran this deployment.', 'Go back to one that it ran.'],
  NoEarlierDeployment: ['The site ran no deployment before the current one.', 'Deploy instead.'],
  DefinitionExists: [
    'A definition of this name is stored.',
    'Send `"overwriteDefinition": true` to replace it.',
  ],
  IacJobFinished: ['The definition job has ended and cannot be cancelled.', 'Read its result.'],
  JobOverlap: [
    'A run of the job is open; `runId` names it.',
    'Start it again when that has ended.',
  ],
  ImmutableField: [
    'The field of the table or site never changes.',
    'Create another one, and move the contents.',
  ],
  PushRefused: [
    'The push cannot be deployed or stored; the message says why.',
    'Correct it, and push again.',
  ],
  UserAlreadyExists: [
    'The pool has a user with this address, or had one within a week.',
    'Use that account, or another address.',
  ],
  UserAlreadyActive: ['The user has accepted the invite.', 'Nothing is left to do.'],
  UserDisabled: ['The account is disabled.', 'Enable it: `croft users --enable`.'],
  PasswordMissing: ['The account has no password.', 'Add one first, or sign in another way.'],
  SecondFactorAlreadySet: ['The account has an authenticator app.', 'Remove it first.'],
  SecondFactorMissing: ['The account has no authenticator app.', 'Set one up first.'],
  SecondFactorRequired: ['The site requires an authenticator app.', 'Keep one set up.'],
  CannotDeleteSelf: ['Admins cannot delete themselves.', 'Ask another admin.'],
  LastSuperAdmin: [
    'A site keeps one super-admin who can sign in.',
    'Make another super-admin first.',
  ],
  MailboxOwnershipConflict: [
    'The user is the only owner of active mailboxes; `details` name them.',
    'Add another owner to each, or disable it.',
  ],
  MailboxAlreadyExists: [
    'The address has a mailbox, active or disabled.',
    'Use it, or restore it: `croft mailbox restore`.',
  ],
  AliasAlreadyExists: ['The address is an alias.', 'Delete the alias first.'],
  MinimumOwners: ['An active mailbox keeps one owner.', 'Add another owner first.'],
  MailboxNotDisabled: ['Only a disabled mailbox is purged.', 'Disable it first.'],
  MailboxDisabled: ['The mailbox is disabled: it neither sends nor forwards.', 'Restore it first.'],
  TooManyCredentials: ['The mailbox has as many passwords as it may.', 'Delete one first.'],
  TooManyDeployTokens: ['The site has 20 deploy tokens.', 'End one first.'],
  TooManyClients: ['The site has as many registered clients as it may.', 'Remove one first.'],
  ClientWithoutSecret: [
    'The client authenticates without a secret.',
    'Register one with a secret if it needs one.',
  ],
  DkimKeyNotPending: [
    'No DKIM key waits to be activated.',
    'Rotate first: `croft site dkim rotate`.',
  ],
  DkimRecordNotPublished: [
    'DNS does not return the record of the new key.',
    'Publish it and wait, or use `--force`.',
  ],
  GroupAlreadyExists: ['The site has a group of this name.', OTHER_NAME],
  PasswordAlreadySet: ['The account has a password.', 'Change it instead.'],
  ProviderAlreadyLinked: [
    'The account has an account of this provider.',
    'Remove that link first.',
  ],
  ProviderLinkedToOtherAccount: [
    'The provider’s account belongs to another account of the pool.',
    'Sign in to that one and remove the link.',
  ],
  IdempotencyKeyReused: [
    'The key was used with another request.',
    'Use a new `Idempotency-Key` for each request.',
  ],
  LinkExpired: ['The link was used or has expired.', 'Request a new one.'],
  SourceUnavailable: [
    'The site’s external repository cannot be fetched; the message says why.',
    'Check URL, credentials and the program `git` on the server.',
  ],
  NotImplemented: [
    'The upload uses a header that is not supported.',
    'Send it without that header.',
  ],
  RequestTimeout: ['The body stopped, or arrived too slowly.', 'Send it again.'],
  PayloadTooLarge: ['The body is longer than `limitBytes`.', 'Send less, or use a signed URL.'],
  ArchiveTooLarge: ['The archive exceeds a bound; the message says which.', 'Export fewer parts.'],
  AttachmentTooLarge: ['An attachment has more than 10 MiB.', 'Send a link instead.'],
  AttachmentsTooLarge: [
    'The attachments have more than 15 MiB together.',
    'Send several messages.',
  ],
  MessageTooLarge: ['The message has more than 25 MiB as it is sent.', 'Send less.'],
  UnsupportedMediaType: [
    'The route takes another type of body.',
    'Set `content-type` as the message says.',
  ],
  ExecutionFailed: ['Ad-hoc code threw; the error has its message.', 'Correct the code.'],
  ExecutionTimeout: ['Ad-hoc code ran or computed longer than it may.', 'Do less in one run.'],
  InvalidFunction: [
    'The function of the operation does not load.',
    'Read the site’s log, correct the function and deploy.',
  ],
  InvalidOperationResult: [
    'The function returned a result that is too large or not JSON.',
    'Return less, or plain JSON values.',
  ],
  MemoryLimitExceeded: ['The call used more memory than it may.', 'Use less, or raise `memoryMb`.'],
  OperationFailed: [
    'The function threw an error that it did not catch.',
    'Find it by request id: `croft site logs --request-id`.',
  ],
  OperationInterrupted: ['A process of site code ended during the call.', LATER],
  OperationOverloaded: [
    'The site has as many calls, waiting calls or streams as it may.',
    'Repeat later; raise `concurrency` or `queueLength`, or cache the operation.',
  ],
  OperationRejected: [
    'The function threw an error with a status from 400 to 499 and no code of its own.',
    'Read the message: it is the site’s.',
  ],
  OperationNestedTooDeep: ['Eight operations wait for each other.', 'Call fewer in a row.'],
  OperationTimeout: [
    'The call ran longer than `timeoutSeconds`, or computed too long without a pause.',
    'Find the line in the site’s log; raise the limit, or use a job.',
  ],
  DataRuntimeProvisioning: ['The site’s runtime is being published.', LATER],
  DataRuntimeFailed: [
    'The site’s runtime cannot be published.',
    'Read the message and the service’s log; change or deploy the site again.',
  ],
  ContactNotConfigured: [
    'The site has no recipient of its contact form.',
    'Add one: `croft contact-recipient add`.',
  ],
  ServiceUnavailable: [
    'A part of the service is away or overloaded.',
    'Repeat after `Retry-After`; operators: `croft doctor`, `/readyz`.',
  ],
  DiskFull: [
    'A disk of the installation has less space than its reserve.',
    'Operators: make room. Writes continue by themselves.',
  ],
  TooManyRequests: ['The caller, its network or the site exceeded a rate.', LATER],
  InternalError: [
    'An error of the service itself.',
    'Operators: find `request failed` with the `requestId` in the log.',
  ],
} as const satisfies Partial<Record<ErrorCode, CauseAndCure>>
