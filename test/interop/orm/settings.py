# Of a project of Django: what it must have, and no more.
import os
from urllib.parse import urlsplit

database = urlsplit(os.environ["DATABASE_URL"])
DATABASES = {"default": {
    "ENGINE": "django.db.backends.postgresql",
    "NAME": database.path[1:],
    "USER": database.username,
    "HOST": database.hostname,
    "PORT": database.port,
}}
INSTALLED_APPS = ["news"]
SECRET_KEY = "of no use"
USE_TZ = True
