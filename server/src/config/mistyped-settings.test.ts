import assert from 'node:assert/strict';
import { test } from 'node:test';
import { findMistyped } from './mistyped-settings.ts';

test('names the setting that was meant', () => {
  const meant = {
    BASE_ULR: 'BASE_URL',
    TRUSTED_PROXYS: 'TRUSTED_PROXIES',
    ALLOW_PRIVATE_EGRES: 'ALLOW_PRIVATE_EGRESS',
    AUTH_SECRET_FILES: 'AUTH_SECRET_FILE',
    PROT: 'PORT',
    data_dir: 'DATA_DIR',
  };
  const environment = Object.fromEntries(Object.keys(meant).map((name) => [name, 'x']));
  assert.deepEqual(
    findMistyped(environment),
    Object.entries(meant).map(([setting, name]) => ({ setting, meant: name })),
  );
});

test('says nothing of settings, of what systems set and of what is farther away', () => {
  const quiet = [
    'PORT',
    'DATABASE_URL_FILE',
    'HOME',
    'HOSTNAME',
    'EDITOR',
    'PATH',
    'PWD',
    'SHLVL',
    'TERM',
    'LANG',
    'USER',
  ];
  const others = [
    'LOGNAME',
    'HTTP_PROXY',
    'https_proxy',
    'NODE_ENV',
    'npm_config_loglevel',
    'BASE_URI_OF_ME',
    'POD_IP',
  ];
  const environment = Object.fromEntries([...quiet, ...others].map((name) => [name, 'x']));
  assert.deepEqual(findMistyped(environment), []);
});
