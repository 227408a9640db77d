import { type OpenRuntime, RuntimeFailure } from '../../runtime.ts';

export const openLocalRuntime: OpenRuntime = () => {
  throw new RuntimeFailure('workspaces of mode local are not built yet');
};
