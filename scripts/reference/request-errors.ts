import type { ErrorCode } from '#base/error-status.ts'

import type { CauseAndCure } from './other-errors.ts'

const COPY_ID = 'Copy the name or id from the list that the service returns.'

/** Codes of requests that name what does not exist, are malformed, or lack a right. */
export const REQUEST_ERRORS = {
  SiteNotFound: [
    'No site has this domain.',
    'Check the `Host` header and DNS, or create the site: `croft site create`.',
  ],
  RouteNotFound: ['No route has this method and path.', 'Check the path and its prefix.'],
  ResourceNotFound: ['The site has no table, bucket or function of this name or id.', COPY_ID],
  OperationNotFound: [
    'The site has no operation of this name, or the caller used `/data/public` for one that is not public.',
    'Check the name in `GET /admin/data/operations`, and whether it was deployed.',
  ],
  UserNotFound: [
    'The pool has no user with this address or id.',
    'Check the address and the pool.',
  ],
  UserPoolNotFound: [
    'The site has no pool with this id.',
    'Use the pool of the discovery document.',
  ],
  DeploymentNotFound: ['The site has no deployment with this id.', COPY_ID],
  RepositoryNotFound: [
    'The site has no repository of its own: its source mode is `EXTERNAL_REPO`.',
    'Push to that repository, or change the source mode to `SITE_GIT`.',
  ],
  RefNotFound: [
    'The repository has no such branch, tag or commit.',
    'Push it first, or name another.',
  ],
  ObjectNotFound: ['The bucket or deployment has no object with this key.', 'Check the key.'],
  GroupNotFound: ['The site has no group of this name.', 'Create it: `POST /admin/data/groups`.'],
  ProviderNotFound: ['The pool has no such sign-in provider.', 'Check the name of the provider.'],
  SessionNotFound: ['The session does not exist or has ended.', 'List the sessions again.'],
  JobNotFound: ['The site has no job with this id.', COPY_ID],
  JobRunNotFound: ['The job has no run with this id, or the run is no longer kept.', COPY_ID],
  IacJobNotFound: ['The site has no definition job with this id.', COPY_ID],
  DefinitionNotFound: ['The site has no stored definition of this name.', COPY_ID],
  ProviderNotEnabled: [
    'The pool does not offer this provider.',
    'Set it up: `croft auth google`, or use another way to sign in.',
  ],
  MailboxNotFound: [
    'The site has no such mailbox, or the caller may not read it.',
    'Check the address, and ask an admin to be an owner.',
  ],
  MessageNotFound: ['The message does not exist, or the caller may not read it.', 'List again.'],
  AliasNotFound: ['The site has no alias with this address.', COPY_ID],
  SuppressionNotFound: ['The address is not suppressed at this site.', 'Nothing is left to do.'],
  CredentialNotFound: ['The password for mail programs does not exist.', COPY_ID],
  DeployTokenNotFound: ['The deploy token does not exist or has ended.', COPY_ID],
  ClientNotFound: ['The site has no registered client with this id.', COPY_ID],
  DeployWebhookNotFound: [
    'The site has no deploy webhook.',
    'Create it: `croft deploy-webhook create`.',
  ],
  ValidationError: [
    'A field or parameter is missing, unknown or out of range; `details` name each one.',
    'Correct the named fields.',
  ],
  InvalidPayload: [
    'The payload is not as the input schema of the operation says; `details` name the places.',
    'Correct the named places.',
  ],
  InvalidJson: [
    'The body is not JSON in UTF-8.',
    'Send JSON with `content-type: application/json`.',
  ],
  InvalidContentEncoding: [
    'The body is not what `content-encoding` says.',
    'Compress it again, or leave out the header.',
  ],
  InvalidNextToken: ['The token belongs to another list.', 'Start the list again without it.'],
  InvalidCode: [
    'A function does not load; `faults` have file, line and frame.',
    'Correct the code at that place.',
  ],
  InvalidArtifact: [
    '`croft.json`, `_redirects`, `_headers` or a path of the deployment is wrong; `faults` say where.',
    'Correct the named file and deploy again.',
  ],
  InvalidArchive: [
    'The archive of a site is damaged, or was not made by `croft site export`.',
    'Export it again.',
  ],
  UnsupportedArchive: ['A newer Croft made the archive.', 'Upgrade this installation.'],
  PassphraseRequired: [
    'The archive has, or would have, secrets.',
    'Give the passphrase that seals them: `--passphrase-file` or `CROFT_ARCHIVE_PASSPHRASE`.',
  ],
  WrongPassphrase: ['The archive was sealed with another passphrase.', 'Give that one.'],
  ArtifactDirMismatch: [
    '`ARTIFACT_DIR` in `build.yml` differs from the artifact directory of the site.',
    'Make them equal: edit the file, or `croft site update --artifact-dir`.',
  ],
  ConfirmationRequired: [
    'The request would delete the resource permanently.',
    'Send `"confirm": true`, or the list of deletions that the error shows.',
  ],
  InvalidPassword: [
    'The password breaks a rule of the pool; `details` name it.',
    'Choose another.',
  ],
  InvalidOwner: ['An owner is not a user of the site.', 'Invite the user first.'],
  InvalidTarget: [
    'A target is not a mailbox of the site, or leads back to the mailbox.',
    'Name another target.',
  ],
  InvalidAttachmentRef: [
    'The file was not uploaded, was sent already, or has expired after a day.',
    'Upload it again.',
  ],
  TooManyAttachments: ['The message has more than 10 attachments.', 'Send several messages.'],
  InvalidVerificationCode: ['The code is wrong, used or expired.', 'Request a new code.'],
  InvalidCredentials: [
    'Address, password or passkey is wrong, or the account cannot sign in.',
    'Try again, or reset the password.',
  ],
  SignUpDisabled: [
    'The pool takes no new accounts by themselves.',
    'Enable it with `croft auth set`, or invite the user.',
  ],
  MissingPlaceholder: [
    'A mail text lacks a placeholder that it needs; `details` name it.',
    'Add the placeholder.',
  ],
  MissingToken: ['The mailed link is incomplete.', 'Open the whole link from the mail.'],
  InvalidToken: ['The mailed link is unknown, replaced or too old.', 'Request a new mail.'],
  Unauthorized: [
    'The request has no valid token of this site and pool, or no valid key.',
    'Send `Authorization: Bearer …`; sign in again if the session has ended.',
  ],
  TokenExpired: [
    'The token has expired.',
    'Refresh it, or sign in again; create a new deploy token.',
  ],
  Forbidden: [
    'The caller lacks the role, group, ownership or scope that this needs.',
    'Ask an admin for it, or use a token that has it.',
  ],
  RecentSignInRequired: [
    'The route needs a sign-in of the last 15 minutes, or a proof of the account’s owner.',
    'Sign in again with `max_age=900`, then repeat; or send `proof`.',
  ],
  MethodNotAllowed: ['The path has other methods; `allow` lists them.', 'Use one of those.'],
  MisdirectedRequest: [
    'The route belongs to another domain of the site; `baseUrl` says which.',
    'Send the request there.',
  ],
} as const satisfies Partial<Record<ErrorCode, CauseAndCure>>
