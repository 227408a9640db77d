import assert from 'node:assert/strict';
import { test } from 'node:test';
import { hasAllWords, searchWords } from '@homeport/contracts/text/search-words';
import type { Access } from '../../conversation/access.ts';
import { texts as germanTexts } from '../../locales/de/topics.ts';
import { texts as englishTexts } from '../../locales/en/topics.ts';
import { findSection, hasTabs, isClosed, settingsGroups } from './settings-sections.ts';
import { settingsTopics } from './settings-topics.ts';

const administrator: Access = { isAdmin: true, canEditProviders: true, canEditTools: true };
const editor: Access = { ...administrator, isAdmin: false };
const plain: Access = { isAdmin: false, canEditProviders: false, canEditTools: false };
const names = (access: Access) => settingsGroups(access).map(({ text }) => text);

test('puts all pages of the settings into five groups', () => {
  assert.deepEqual(names(administrator), [
    'settings.account',
    'settings.personalization',
    'settings.data',
    'settings.modelsAndTools',
    'settings.admin',
  ]);
  assert.equal(names(editor).length, 4);
});

test('shows three groups to people who manage neither models nor tools', () => {
  const groups = settingsGroups(plain);
  assert.deepEqual(names(plain), ['settings.account', 'settings.personalization', 'settings.data']);
  const pages: string[] = groups.flatMap(({ pages: own }) => own.map(({ to }) => to));
  for (const technical of ['providers', 'models', 'tiers', 'tools', 'tokens', 'usage'])
    assert.ok(!pages.includes(`/settings/${technical}`), technical);
});

test('lists what a person may manage, and nothing else', () => {
  const pagesOf = (access: Access) => settingsGroups(access)[3]?.pages.map(({ to }) => to);
  const [providers, tools] = [
    { ...plain, canEditProviders: true },
    { ...plain, canEditTools: true },
  ];
  assert.deepEqual(pagesOf(providers), [
    '/settings/providers',
    '/settings/models',
    '/settings/tiers',
    '/settings/tokens',
  ]);
  assert.deepEqual(pagesOf(tools), ['/settings/tools', '/settings/tokens']);
});

test('closes the pages of models to people who may not change them', () => {
  for (const path of ['/settings/providers', '/settings/models/', '/settings/tiers']) {
    assert.ok(isClosed(path, plain), path);
    assert.ok(!isClosed(path, editor), path);
  }
  assert.ok(!isClosed('/settings/account', plain));
});

test('finds the group and page of an address', () => {
  const groups = settingsGroups(administrator);
  assert.equal(findSection(groups, '/settings/admin/users/42/models')?.page.to, '/settings/admin/users');
  assert.equal(findSection(groups, '/settings/skills')?.group.text, 'settings.personalization');
  assert.equal(findSection(groups, '/settings/admin/usage')?.group.text, 'settings.admin');
  assert.equal(findSection(groups, '/settings'), undefined);
});

test('shows small groups as tabs', () => {
  assert.deepEqual(settingsGroups(administrator).map(hasTabs), [false, true, true, false, false]);
});

const pagesOfSearches = {
  'api key': '/settings/providers',
  invite: '/settings/admin/invitations',
  'delete account': '/settings/import-export',
  backup: '/settings/admin/backups',
  password: '/settings/account',
  doctor: '/settings/admin/check',
};
const searches: readonly (readonly [string, object, Record<string, string>])[] = [
  [
    'English',
    englishTexts,
    {
      ...pagesOfSearches,
      'delete my account': '/settings/import-export',
      'change password': '/settings/account',
      'dark mode': '/settings/account',
      language: '/settings/account',
      export: '/settings/import-export',
      ollama: '/settings/providers',
      logo: '/settings/admin/branding',
      cost: '/settings/usage',
    },
  ],
  [
    'German',
    germanTexts,
    {
      ...pagesOfSearches,
      'api schlüssel': '/settings/providers',
      einladen: '/settings/admin/invitations',
      'jemanden einladen': '/settings/admin/invitations',
      'konto löschen': '/settings/import-export',
      sicherung: '/settings/admin/backups',
      'passwort ändern': '/settings/account',
      kennwort: '/settings/account',
      prüfung: '/settings/admin/check',
      sprache: '/settings/account',
      'daten herunterladen': '/settings/import-export',
      kosten: '/settings/usage',
    },
  ],
];

for (const [language, texts, expected] of searches) {
  for (const [search, page] of Object.entries(expected)) {
    test(`finds “${search}” in the ${language} settings`, () => {
      const found = settingsTopics(settingsGroups(administrator)).filter(({ text, words }) =>
        hasAllWords(`${Reflect.get(texts, text)} ${Reflect.get(texts, words)}`, searchWords(search)),
      );
      assert.ok(
        found.some((topic) => topic.page.to === page),
        found.map(({ text }) => text).join(', '),
      );
    });
  }
}

test('offers tasks only on pages that a person may use', () => {
  const reached = settingsTopics(settingsGroups(plain)).map(({ page }) => page.to);
  assert.ok(reached.includes('/settings/account'));
  assert.ok(!reached.some((to) => /admin|providers|tools|tokens/.test(to)));
});
