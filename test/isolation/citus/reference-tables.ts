/** What is looked for before a site is known: by names that no two sites have. */
export const REFERENCE_TABLES = ['site', 'site_host', 'site_branding']
