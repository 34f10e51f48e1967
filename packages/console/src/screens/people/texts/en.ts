export const TEXTS = {
  'admins.title': 'Admins',
  'admins.lead': 'People who may sign in here and use the admin API of this site.',
  'admins.search': 'Search by address',
  'admins.invite': 'Invite',
  'admins.address': 'Address',
  'admins.role': 'Role',
  'admins.status': 'Status',
  'admins.none': 'No admin has an address like this',
  'admins.none-lead': 'Search for another part of the address, or invite a person.',
  'status.INVITED': 'Invited',
  'status.ACTIVE': 'Active',
  'invite.title': 'Invite a person',
  'invite.email': 'Email address',
  'invite.email-hint':
    'The invite is sent to it. On the site’s own domain it is also the mailbox the person owns.',
  'invite.external': 'Send the invite to',
  'invite.external-hint': 'Another address, if the person cannot read that mailbox yet.',
  'invite.send': 'Send the invite',
  'invite.sent': 'The invite to {email} is sent',
  'role.hint':
    'Users read their own mailboxes, admins run the site, super admins also change roles of super admins.',
  'admin.lead': 'Admin of this site',
} as const
