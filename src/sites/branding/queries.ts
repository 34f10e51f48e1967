import type { Picture } from '#base/picture.ts'
import type { SiteTx } from '#platform/postgres/database.ts'

interface StoredBranding {
  readonly color: string | null
  readonly logo_version: string | null
}

export const selectSiteBranding = (tx: SiteTx): Promise<StoredBranding | undefined> =>
  tx.db.selectFrom('site_branding').select(['color', 'logo_version']).executeTakeFirst()

export async function selectSiteLogo(tx: SiteTx, version: string): Promise<Picture | undefined> {
  const row = await tx.db
    .selectFrom('site_branding')
    .select(['logo', 'logo_type'])
    .where('logo_version', '=', version)
    .executeTakeFirst()
  return row?.logo && row.logo_type ? { bytes: row.logo, type: row.logo_type } : undefined
}

/** What is left out stays. */
export async function upsertSiteBranding(
  tx: SiteTx,
  change: {
    readonly color?: string | null
    readonly logo?: (Picture & { readonly version: string }) | null
  },
  now: Date,
): Promise<void> {
  const { color, logo } = change
  const columns = {
    updated_at: now,
    ...(color !== undefined && { color }),
    ...(logo !== undefined && {
      logo: logo?.bytes ?? null,
      logo_type: logo?.type ?? null,
      logo_version: logo?.version ?? null,
    }),
  }
  await tx.db
    .insertInto('site_branding')
    .values({ site_id: tx.siteId, ...columns })
    .onConflict((conflict) => conflict.column('site_id').doUpdateSet(columns))
    .execute()
}
