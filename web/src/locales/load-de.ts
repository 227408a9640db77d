import texts from 'virtual:catalogue/de';
import adminTexts from 'virtual:catalogue/de-admin';
import agentTexts from 'virtual:catalogue/de-agent';
import assistantTexts from 'virtual:catalogue/de-assistants';

import catalogueTexts from 'virtual:catalogue/de-catalogue';

import changesTexts from 'virtual:catalogue/de-changes';

import diagramTexts from 'virtual:catalogue/de-diagrams';
import fileTexts from 'virtual:catalogue/de-files';
import instructionTexts from 'virtual:catalogue/de-instructions';
import mcpTexts from 'virtual:catalogue/de-mcp';
import movingTexts from 'virtual:catalogue/de-moving';
import operationTexts from 'virtual:catalogue/de-operations';
import pageTexts from 'virtual:catalogue/de-pages';
import previewTexts from 'virtual:catalogue/de-previews';
import projectTexts from 'virtual:catalogue/de-projects';
import promptContextTexts from 'virtual:catalogue/de-prompt-context';
import renderedTexts from 'virtual:catalogue/de-rendered';
import ruleTexts from 'virtual:catalogue/de-rules';
import skillTexts from 'virtual:catalogue/de-skills';
import usageTexts from 'virtual:catalogue/de-usage';
import workspaceTexts from 'virtual:catalogue/de-workspace';

/** All German texts: one file, loaded where German is chosen. */
export const german = {
  ...texts,
  ...pageTexts,
  ...mcpTexts,
  ...fileTexts,
  ...instructionTexts,
  ...adminTexts,
  ...agentTexts,
  ...operationTexts,
  ...assistantTexts,
  ...projectTexts,
  ...previewTexts,
  ...catalogueTexts,
  ...changesTexts,
  ...ruleTexts,
  ...skillTexts,
  ...diagramTexts,
  ...movingTexts,
  ...renderedTexts,
  ...promptContextTexts,
  ...usageTexts,
  ...workspaceTexts,
};
