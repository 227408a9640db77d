/** Filter and order of the list of people, as the address has them. */

export const peopleFilters = [
  'everyone',
  'active',
  'away',
  'never',
  'admins',
  'disabled',
  'no-model',
  'invited',
] as const;
export type PeopleFilter = (typeof peopleFilters)[number];

export const peopleSorts = ['created', 'name', 'email', 'seen'] as const;
export type PeopleSort = (typeof peopleSorts)[number];

type PeopleSearch = { show?: string | undefined; sort?: string | undefined };

/** The filter and order of an address; everyone, newest first, for what it lacks or misspells. */
export function readPeopleSearch({ show, sort }: PeopleSearch): { show: PeopleFilter; sort: PeopleSort } {
  return {
    show: peopleFilters.find((filter) => filter === show) ?? 'everyone',
    sort: peopleSorts.find((name) => name === sort) ?? 'created',
  };
}

/** The members of the address; defaults are left out. */
export function writePeopleSearch(search: PeopleSearch): { show?: string; sort?: string } {
  const { show, sort } = readPeopleSearch(search);
  return { ...(show === 'everyone' ? {} : { show }), ...(sort === 'created' ? {} : { sort }) };
}

type PeopleQuery = {
  role?: 'admin';
  enabled?: '0' | '1';
  seen?: 'recently' | 'not-recently' | 'never';
  model?: 'none';
};

const queries: Record<Exclude<PeopleFilter, 'invited'>, PeopleQuery> = {
  everyone: {},
  active: { seen: 'recently' },
  away: { seen: 'not-recently' },
  never: { seen: 'never' },
  admins: { role: 'admin' },
  disabled: { enabled: '0' },
  'no-model': { model: 'none', enabled: '1' },
};

/** The filter as the API takes it; undefined: only invitations. */
export function peopleQuery(show: PeopleFilter): PeopleQuery | undefined {
  return show === 'invited' ? undefined : queries[show];
}
