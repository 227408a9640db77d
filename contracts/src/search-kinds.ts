/** Search services that Homeport can use (contract.md section 12, "Web"). */
export const searchKinds = ['searxng', 'brave', 'tavily', 'exa', 'kagi'] as const;
export type SearchKind = (typeof searchKinds)[number];
