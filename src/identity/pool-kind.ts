/** A site has one pool of each kind: its admins, and its visitors. */
export type PoolKind = 'admin' | 'data'
export const POOL_KINDS = ['admin', 'data'] as const satisfies readonly PoolKind[]
