import { lazyRouteComponent } from '@tanstack/react-router';

/** Pages of the settings that few people open; each is loaded when it is rendered. */

export const InvitationsPage = lazyRouteComponent(
  () => import('../admin/people/invitations-page.tsx'),
  'InvitationsPage',
);
export const OverviewPage = lazyRouteComponent(() => import('../admin/overview/overview-page.tsx'), 'OverviewPage');
export const CheckPage = lazyRouteComponent(() => import('../admin/overview/check-page.tsx'), 'CheckPage');
export const BrandingPage = lazyRouteComponent(() => import('../admin/branding/branding-page.tsx'), 'BrandingPage');
export const InstructionsPage = lazyRouteComponent(() => import('../admin/instructions-page.tsx'), 'InstructionsPage');
export const SingleSignOnPage = lazyRouteComponent(
  () => import('../admin/single-sign-on/single-sign-on-page.tsx'),
  'SingleSignOnPage',
);
export const ManifestPage = lazyRouteComponent(() => import('../admin/manifest/manifest-page.tsx'), 'ManifestPage');
export const AuditPage = lazyRouteComponent(() => import('../admin/audit/audit-page.tsx'), 'AuditPage');
export const AllUsagePage = lazyRouteComponent(() => import('../usage/all-usage-page.tsx'), 'AllUsagePage');
export const BudgetsPage = lazyRouteComponent(() => import('../usage/budgets-page.tsx'), 'BudgetsPage');
export const BackupsPage = lazyRouteComponent(() => import('../admin/backups/backups-page.tsx'), 'BackupsPage');
export const OfferedServersPage = lazyRouteComponent(
  () => import('../admin/offered-servers-page.tsx'),
  'OfferedServersPage',
);
export const TokensPage = lazyRouteComponent(() => import('../tokens/tokens-page.tsx'), 'TokensPage');
export const SharesPage = lazyRouteComponent(() => import('../shares/shares-page.tsx'), 'SharesPage');
