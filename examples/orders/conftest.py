pytest_plugins = ["helpers.cloud.pytest_plugin"]
