import { after, before, test } from 'node:test';
import { startTestApp, type TestApp } from '../../app.ts';
import { expectEchoApp, PreviewBrowser, startEchoApp } from '../preview-browser.ts';
import { DockerLab } from './docker-lab.ts';

let lab: DockerLab;
let app: TestApp;
before(async () => {
  lab = await DockerLab.open();
  app = await startTestApp({ workspaceRuntime: lab.runtime });
});
after(async () => {
  await app.stop();
  await lab.close();
});

test('previews an app in a container: requests and WebSockets reach it through the daemon', async () => {
  const user = await app.signIn();
  lab.adopt(user.id);
  await user.call('POST /api/workspace/status');
  await startEchoApp(app, user);
  await expectEchoApp(new PreviewBrowser(() => app.url), user);
});
